"""How one shape is computed, and what experience says before anything was measured."""

from dataclasses import astuple, dataclass, replace

from agents.templates.base import Knob, Knobs
from agents.templates.gemm.form import Gemm, Shape

FEW, SOME = 64, 512
"""Rows up to which weights alone are what is read, and up to which blocks are too few for a whole GPU."""
PROCESSORS = 132
"""Of an H200 (B200: 148): a guess at how many blocks make a full wave, no limit."""


@dataclass(frozen=True)
class Plan:
    block_m: int
    block_n: int
    block_k: int
    warps: int
    stages: int
    parts: int
    """Of the length, summed by different programs; above 1 a block's last one adds them up."""
    persistent: bool
    swapped: bool
    """The weight is the first operand, so that few rows fill an instruction's short side."""
    pieces: int
    streamed: bool = False
    """The weight passes through registers, and leaves in the cache what was there; else it waits in stages."""

    @property
    def text(self) -> str:
        return repr(astuple(self))


def plan_of_knobs(knobs: Knobs) -> Plan:
    return Plan(
        block_m=int(knobs["block_m"]),
        block_n=int(knobs["block_n"]),
        block_k=int(knobs["block_k"]),
        warps=int(knobs["warps"]),
        stages=int(knobs["stages"]),
        parts=int(knobs["parts"]),
        persistent=bool(knobs["persistent"]),
        swapped=bool(knobs["swapped"]),
        pieces=int(knobs["pieces"]),
        streamed=bool(knobs["streamed"]),
    )


def class_of(shape: Shape) -> str:
    """`few`, `some` or `many` rows."""
    return "few" if shape[0] <= FEW else "some" if shape[0] <= SOME else "many"


def knobs_of(plan: Plan, rows: str) -> dict[str, Knob]:
    return {"rows": rows, **vars(plan)}


def short_side(m: int) -> int:
    """Rows that a swapped block takes so that `m` fit, if they are few."""
    return max(16, min(FEW, 1 << (m - 1).bit_length()))


def suited(plan: Plan, shape: Shape) -> Plan:
    """`plan` for a shape of its class: with few rows a block is no taller than they are."""
    return replace(plan, block_m=min(plan.block_m, short_side(shape[0]))) if plan.swapped else plan


def experience(shape: Shape, gemm: Gemm) -> Plan:
    """Few rows: as many loads under way as there can be. Many: the largest block that the registers hold."""
    m, n, k = shape
    products = len(gemm.products)
    if m <= FEW:
        return _few(m, n, k, products)
    if m <= SOME:
        return _some(m, n, products)
    if products == 2:
        return Plan(128, 128, 64, 8, 4, 1, True, False, 2)
    if -(-m // 128) * -(-n // 256) < PROCESSORS // 2:
        return Plan(128, 128, 64, 8, 4, 1, False, False, 1)
    return Plan(128, 256, 64, 8, 3 if gemm.tiles else 4, 1, True, False, 2)


def _few(m: int, n: int, k: int, products: int) -> Plan:
    if m > 32 and products == 1:
        return Plan(short_side(m), 64, 64, 4, 6, 1, False, True, 1)
    wide = n // 64 * products >= 2 * PROCESSORS
    parts = 1 if wide or k < 1024 else 2 if n // 64 * 2 >= PROCESSORS else 4
    return Plan(short_side(m), 64, 128 if products == 1 else 64, 4, 4, parts, False, True, 1)


def _some(m: int, n: int, products: int) -> Plan:
    block_n = 128 // products
    blocks = -(-m // 128) * -(-n // block_n)
    parts = 1 if blocks * 2 > PROCESSORS else 2 if blocks * 4 > PROCESSORS else 4
    return Plan(128, block_n, 64, 4 if block_n == 64 else 8, 4, parts, False, False, 1)
