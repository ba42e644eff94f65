"""What can be turned in the CUDA product, and what does not fit."""

from agents.templates.base import Knob, Knobs, KnobSpace
from agents.templates.gemm.form import Gemm
from agents.templates.gemm.plan import FEW

_MOST_SHARED = 227 * 1024
_HEIGHT, _DEPTH, _BYTES = 128, 64, 2
_LEAVING = 8 * 2 * 16 * 64 * _BYTES
"""Two pieces of 16 x 64 for each of eight warps."""
_OTHER_SHARED = 1024 + 256
"""Alignment of the ring, and barriers."""


MANY_KNOBS: dict[str, Knob] = {"width": 256, "stages": 4, "cluster": 2, "group": 8}
FEW_KNOBS: dict[str, Knob] = {"warps": 8, "ahead": 2, "policy": "evict_first"}
"""What each kernel has while the other one is looked at."""


def hopper_knobs(gemm: Gemm) -> KnobSpace:
    """Knobs: for which `rows` a setting is. Many: `width` of a tile, `stages` of the ring, blocks of a `cluster` that
    share the weight's tile, rows of tiles in a `group` that share a band of the weight. Few: `warps` that share the
    length, steps read `ahead`, and the weight's `policy` in the cache."""
    classes = tuple(
        dict.fromkeys("few" if m <= FEW else "many" for m, _, _ in sorted(gemm.shapes, reverse=True))
    )
    tiles = ((256, 4, 2), (128, 6, 2), (256, 4, 1), (192, 4, 2), (256, 3, 2))
    many = [
        {**MANY_KNOBS, "width": width, "stages": stages, "cluster": cluster}
        for width, stages, cluster in tiles
    ]
    reads = ((8, 2), (4, 2), (8, 1), (8, 4), (4, 4))
    few = [{**FEW_KNOBS, "warps": warps, "ahead": ahead} for warps, ahead in reads]
    start = [
        {"rows": rows, **MANY_KNOBS, **FEW_KNOBS, **each}
        for pair in zip(many, few, strict=True)
        for rows, each in zip(("many", "few"), pair, strict=True)
        if rows in classes
    ]
    return KnobSpace(
        choices={
            "rows": classes,
            "width": (128, 192, 256),
            "stages": (3, 4, 5, 6),
            "cluster": (1, 2),
            "group": (4, 8, 16),
            "warps": (2, 4, 8),
            "ahead": (1, 2, 4, 8),
            "policy": ("evict_first", "evict_normal"),
        },
        allows=_makes_sense,
        start=tuple(start),
    )


def _makes_sense(knobs: Knobs) -> bool:
    """One kernel is turned at a time, and what is turned fits."""
    if knobs["rows"] == "few":
        return all(knobs[name] == value for name, value in MANY_KNOBS.items())
    stage = (_HEIGHT + int(knobs["width"])) * _DEPTH * _BYTES
    fits = int(knobs["stages"]) * stage + _LEAVING + _OTHER_SHARED <= _MOST_SHARED
    return fits and all(knobs[name] == value for name, value in FEW_KNOBS.items())
