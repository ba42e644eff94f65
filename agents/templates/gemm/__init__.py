"""Matrix products of narrow floats, with what the reference does to the product before it is stored."""

from agents.templates.gemm.family import GemmFamily
from agents.templates.gemm.form import Gemm, Product

__all__ = ["Gemm", "GemmFamily", "Product"]
