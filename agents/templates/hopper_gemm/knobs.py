"""What can be turned in the CUDA product, and what does not fit."""

from agents.templates.base import Knobs, KnobSpace
from agents.templates.gemm.form import Gemm

_MOST_SHARED = 227 * 1024
_HEIGHT, _DEPTH, _BYTES = 128, 64, 2
_LEAVING = 8 * 2 * 16 * 64 * _BYTES
"""Two pieces of 16 x 64 for each of eight warps."""
_OTHER_SHARED = 1024 + 256
"""Alignment of the ring, and barriers."""


def hopper_knobs(gemm: Gemm) -> KnobSpace:
    """Knobs: `width` of a tile, `stages` of the ring, blocks of a `cluster` that share the weight's tile, and rows
    of tiles in a `group` that share a band of the weight."""
    start: tuple[Knobs, ...] = tuple(
        {"width": width, "stages": stages, "cluster": cluster, "group": 8}
        for width, stages, cluster in ((256, 4, 2), (128, 6, 2), (256, 4, 1), (192, 5, 2), (256, 3, 2))
    )
    return KnobSpace(
        choices={
            "width": (128, 192, 256),
            "stages": (3, 4, 5, 6),
            "cluster": (1, 2),
            "group": (4, 8, 16),
        },
        allows=_fits,
        start=tuple(knobs for knobs in start if _fits(knobs)),
    )


def _fits(knobs: Knobs) -> bool:
    stage = (_HEIGHT + int(knobs["width"])) * _DEPTH * _BYTES
    return int(knobs["stages"]) * stage + _LEAVING + _OTHER_SHARED <= _MOST_SHARED
