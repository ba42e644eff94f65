"""How each sentinel is built and launched: element types, sizes, programs, and the task it answers."""

from dataclasses import dataclass
from typing import Any

from scripts.sentinels import kernels
from scripts.sentinels.problems import ADDED, GATHERED, LOWEST, MULTIPLIED, STEPPED, STEPS, SUMMED, VECTOR

_WAVE = 132 * 8
"""Programs of four warps that an H200 holds at a time; a B200 holds them, too."""
_BLOCK = 1024


@dataclass(frozen=True)
class Recipe:
    kernel: Any
    pointers: tuple[str, ...]
    """Element types of the arguments, in the order of the task's inputs and outputs."""
    constants: dict[str, int]
    programs: int
    warps: int = 4
    stages: int = 3


RECIPES: dict[str, Recipe] = {
    "sentinel_copy": Recipe(kernels.copy, ("fp32", "fp32"), {"SIZE": VECTOR, "BLOCK": _BLOCK}, _WAVE),
    "sentinel_reduce": Recipe(
        kernels.reduce, ("fp32", "fp32"), {"ROWS": SUMMED[0], "WIDTH": SUMMED[1]}, _WAVE
    ),
    "sentinel_arithmetic": Recipe(
        kernels.arithmetic, ("fp32", "fp32"), {"SIZE": ADDED, "BLOCK": _BLOCK, "STEPS": STEPS}, _WAVE
    ),
    "sentinel_product": Recipe(
        kernels.product, ("bf16", "bf16", "bf16"),
        {**dict(zip("MNK", MULTIPLIED, strict=True)), "ROWS": 128, "COLUMNS": 256, "DEPTH": 64}, 128, warps=8,
    ),
    "sentinel_gather": Recipe(
        kernels.gather, ("bf16", "i32", "bf16"), {"COUNT": GATHERED[0], "WIDTH": GATHERED[1], "LOWEST": LOWEST}, _WAVE
    ),
    "sentinel_launch": Recipe(kernels.step, ("fp32", "fp32"), {"SIZE": STEPPED // 4}, 4),
}  # fmt: skip
