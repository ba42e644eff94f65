"""Matrix products in CUDA C++ for Hopper: tensor memory access, a ring of stages, warpgroups of their own for loads."""

from agents.templates.hopper_gemm.family import HopperGemmFamily

__all__ = ["HopperGemmFamily"]
