"""A setting on a shape as numbers: its knobs and sizes by name, and what families have in common.

Sizes and powers of two are logarithms, so that a tree's threshold means a ratio. What is not known is NaN, which
the trees take as a value of its own.
"""

import math
from collections.abc import Callable, Mapping

from agents.templates.base import Knob, Knobs
from agents.templates.gemm.plan import FEW, class_of

Features = dict[str, float]
Axes = Mapping[str, int]

_PROCESSORS = 132
"""Of an H200: how many programs make a wave."""
_WARP = 32


def features(family: str, axes: Axes, knobs: Knobs) -> Features:
    found: Features = {}
    for name, value in knobs.items():
        found.update(_of_knob(f"knob {name}", value))
    found.update({f"axis {name}": math.log2(1 + size) for name, size in axes.items()})
    return {**found, **_derived(family, axes, knobs)}


def suits(family: str, axes: Axes, knobs: Knobs) -> bool:
    """False for a setting that is for shapes of another class, and would change nothing on this one."""
    rows = knobs.get("rows")
    if family not in ("gemm", "hopper_gemm") or not isinstance(rows, str) or "M" not in axes:
        return True
    if family == "gemm":
        return rows == class_of((axes["M"], axes["N"], axes["K"]))
    return rows == ("few" if axes["M"] <= FEW else "many")


def _of_knob(name: str, value: Knob) -> Features:
    """A text such as `64x64x4` is as many numbers; any other is its own yes-or-no."""
    if isinstance(value, bool):
        return {name: float(value)}
    if isinstance(value, int):
        return {name: math.log2(1 + value)}
    parts = value.split("x")
    if len(parts) > 1 and all(part.isdigit() for part in parts):
        return {f"{name} {place}": math.log2(1 + int(part)) for place, part in enumerate(parts)}
    return {f"{name} is {value}": 1.0}


def _derived(family: str, axes: Axes, knobs: Knobs) -> Features:
    """What any tiled kernel has: programs, waves, bytes and arithmetic of a step, a thread's share."""
    describe = _FAMILIES.get(family)
    try:
        tile = describe({**axes}, _Numbers(knobs)) if describe else None
    except (KeyError, ValueError):
        tile = None  # sizes by other names: nothing is known of its tiles
    warps, stages = (_number(knobs, name) for name in ("warps", "stages"))
    if tile is None:
        return {"warps": _log(warps), "stages": _log(stages)}
    programs, elements, step_bytes, step_flops, steps = tile
    waves = programs / _PROCESSORS
    return {
        "warps": _log(warps), "stages": _log(stages),
        "programs": _log(programs), "waves": _log(waves), "last wave": waves / math.ceil(waves),
        "elements": _log(elements), "a thread": _log(elements / (_WARP * warps)),
        "staged": _log(step_bytes * stages), "step": _log(step_bytes), "steps": _log(steps),
        "intensity": _log(step_flops / step_bytes),
    }  # fmt: skip


Tile = tuple[float, float, float, float, float]
"""Programs of the grid; of one, elements that stay in registers; of a step, bytes and FLOPs; steps."""


class _Numbers:
    """Knobs as numbers; one that is missing is 1, its neutral value."""

    def __init__(self, knobs: Knobs) -> None:
        self._knobs = knobs

    def __getitem__(self, name: str) -> float:
        value = self._knobs.get(name, 1)
        if isinstance(value, str):
            raise ValueError(name)
        return float(value)


def _gemm(axes: Axes, knobs: _Numbers) -> Tile:
    m, n, k = axes["M"], axes["N"], axes["K"]
    block_m, block_n, block_k = knobs["block_m"], knobs["block_n"], knobs["block_k"]
    programs = math.ceil(m / block_m) * math.ceil(n / block_n) * knobs["parts"]
    step = 2 * (block_m + block_n) * block_k
    steps = math.ceil(k / block_k / knobs["parts"])
    return programs, block_m * block_n, step, 2 * block_m * block_n * block_k, steps


def _hopper(axes: Axes, knobs: _Numbers) -> Tile:
    programs = math.ceil(axes["M"] / 128) * math.ceil(axes["N"] / knobs["width"])
    step = 2 * (128 + knobs["width"]) * 64
    return programs, 128 * knobs["width"], step, 2 * 128 * knobs["width"] * 64, axes["K"] / 64


def _decode(axes: Axes, knobs: _Numbers) -> Tile:
    """Heads of 128, of which a program has a group of eight at most: what sets shapes apart are keys."""
    sequences, block_n = axes["batch_size"], knobs["block_n"]
    keys = (axes["earlier_tokens"] + sequences) / sequences
    programs = max(float(sequences), _PROCESSORS * knobs["programs"])
    steps = math.ceil(keys * sequences / block_n / programs)
    return programs, 16 * 128, 4 * 128 * block_n, 4 * 16 * 128 * block_n, steps


def _prefill(axes: Axes, knobs: _Numbers) -> Tile:
    rows, block_n = knobs["block_m"] * knobs["parts"], knobs["block_n"]
    keys = (axes["earlier_tokens"] + axes["total_q"]) / axes["batch_size"]
    programs = math.ceil(axes["total_q"] * 8 / rows)
    return programs, rows * 128, 4 * 128 * block_n, 4 * rows * 128 * block_n, math.ceil(keys / block_n)


def _rows(width: str, rows: str, tile: str) -> Callable[[Axes, _Numbers], Tile]:
    """Kernels that walk over rows: no products, as many bytes as elements."""

    def describe(axes: Axes, knobs: _Numbers) -> Tile:
        size = knobs[tile]
        return math.ceil(axes[rows] * axes[width] / size), size, 2 * size, size, 1

    return describe


_FAMILIES: dict[str, Callable[[Axes, _Numbers], Tile]] = {
    "gemm": _gemm,
    "hopper_gemm": _hopper,
    "paged_decode": _decode,
    "paged_prefill": _prefill,
    "row_norm": _rows("width", "num_rows", "tile"),
    "swiglu": _rows("width", "num_rows", "tile"),
}


def _number(knobs: Knobs, name: str) -> float:
    """Also where it follows from others, as warps do from a tile and a thread's part of it."""
    if name == "warps" and "warps" not in knobs and {"tile", "per_thread"} <= set(knobs):
        return max(1.0, int(knobs["tile"]) / (_WARP * int(knobs["per_thread"])))
    value = knobs.get(name, 1)
    return float(value) if not isinstance(value, str) else 1.0


def _log(value: float) -> float:
    return math.log2(value) if value > 0 else math.nan
