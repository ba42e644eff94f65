"""From a task to a `Rope`: its reference gives what turning pairs by given angles gives."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from itertools import product
from typing import TYPE_CHECKING, Literal

from agents.reading.identity import agree, normal, results_on, shrunk
from agents.templates.rope.form import Rope
from agents.templates.rope.model import rotated_by
from tasks.definition import AxisConst, Definition
from tasks.task import Task

if TYPE_CHECKING:
    import torch

_FLOATS = ("float32", "bfloat16", "float16")
_INTEGERS = ("int32", "int64")
_WIDTH, _NARROW = 8, 64
_SIZES = (2, 3, 5, 4, 7, 6, 9, 11)
"""Of the axes that vary, in turn; the sizes tell the axes apart."""


def recognise(task: Task) -> Rope | None:
    """None unless every output is an input of heads, rotated by the other inputs."""
    definition = task.definition
    rotated = _pairs(definition)
    others = [name for name in definition.inputs if name not in [x for x, _ in rotated]]
    if not 1 <= len(rotated) <= 2 or not 2 <= len(others) <= 3 or len(definition.reference) > 8000:
        return None
    small = _small(definition, rotated[0][0])
    if small is None:
        return None
    true_width = _true_width(definition, rotated[0][0])
    definition, literals, axes, width = small
    inputs = _inputs(definition, axes, others, None)
    results = results_on(definition, inputs, literals=literals)
    if results is None:
        return None
    for form in _forms(definition, rotated, others, true_width):
        wanted = rotated_by(form, inputs, width)
        if wanted is not None and agree(results, wanted):
            return _with_rounding(form, definition, axes, others, literals, width)
    return None


def _pairs(definition: Definition) -> list[tuple[str, str]]:
    """Each output with an input of its shape and type; empty when one has none."""
    free = {n: s for n, s in definition.inputs.items() if s.shape is not None and 3 <= len(s.shape) <= 4}
    pairs = []
    for output, spec in definition.outputs.items():
        fits = [n for n, s in free.items() if s.shape == spec.shape and s.dtype == spec.dtype]
        if not fits or spec.dtype.value not in _FLOATS:
            return []
        pairs.append((fits[0], output))
        del free[fits[0]]
    return pairs if len({definition.outputs[o].dtype for _, o in pairs}) == 1 else []


def _small(definition: Definition, x: str) -> tuple[Definition, dict[int, int], dict[str, int], int] | None:
    """The problem with narrow heads, what its numbers mean then, sizes, and the width of a head."""
    axis = (definition.inputs[x].shape or ("",))[-1]
    entry = definition.axes.get(axis)
    if not isinstance(entry, AxisConst) or entry.value % 2:
        return None
    # heads that are narrow stay as they are: their width may be written out, in numbers that mean other things too
    width = entry.value if entry.value <= _NARROW else _WIDTH
    halves = [
        a for a, e in definition.axes.items() if isinstance(e, AxisConst) and e.value == entry.value // 2
    ]
    other, literals = shrunk(definition, {axis: width, **dict.fromkeys(halves, width // 2)})
    if width != entry.value:
        literals.setdefault(entry.value // 2, width // 2)
    axes = dict(zip(definition.var_axes, _SIZES, strict=False))
    return (other, literals, axes, width) if len(axes) == len(definition.var_axes) else None


def _true_width(definition: Definition, x: str) -> int:
    entry = definition.axes[(definition.inputs[x].shape or ("",))[-1]]
    return entry.value if isinstance(entry, AxisConst) else 0


def _inputs(
    definition: Definition, axes: dict[str, int], others: list[str], dtypes: str | None
) -> dict[str, torch.Tensor]:
    """Random; whole numbers are positions within the shortest list of angles."""
    import torch

    shapes = definition.input_shapes(axes)
    floats = [n for n in others if definition.inputs[n].dtype.value in _FLOATS]
    rows = min(((shapes[n] or (1,))[-2] for n in floats if len(shapes[n] or ()) > 1), default=1)
    inputs = {}
    for seed, (name, spec) in enumerate(definition.inputs.items()):
        shape = shapes[name] or ()
        if spec.dtype.value in _INTEGERS:
            generator = torch.Generator().manual_seed(seed)
            inputs[name] = torch.randint(0, rows, shape, generator=generator)
        else:
            inputs[name] = normal(*shape, seed=seed, dtype="float64" if dtypes is None else spec.dtype.value)
    return inputs


def _forms(
    definition: Definition, rotated: list[tuple[str, str]], others: list[str], width: int
) -> Iterator[Rope]:
    floats = [n for n in others if definition.inputs[n].dtype.value in _FLOATS]
    whole = [n for n in others if definition.inputs[n].dtype.value in _INTEGERS]
    if len(whole) > 1 or not 1 <= len(floats) <= 2 or len(floats) + len(whole) != len(others):
        return
    ways: tuple[Literal["table", "full", "half"], ...] = ("table",) if len(floats) == 1 else ("full", "half")
    four = len(definition.inputs[rotated[0][0]].shape or ()) == 4
    for angles, (cos, sin) in product(ways, {(floats[0], floats[-1]): 0, (floats[-1], floats[0]): 0}):
        for heads_first, interleaved, inverse, each in product(
            (True, False) if four else (False,), (False, True), (False, True), (False, True)
        ):
            yield Rope(
                rotated=tuple(rotated), heads_first=heads_first, interleaved=interleaved, inverse=inverse,
                angles=angles, cos=cos, sin=sin, positions=whole[0] if whole else None, angles_a_token=each,
                products_rounded_to=None, width=width, inputs=tuple(definition.inputs),
                outputs=tuple(definition.outputs),
            )  # fmt: skip


def _with_rounding(
    form: Rope,
    definition: Definition,
    axes: dict[str, int],
    others: list[str],
    literals: dict[int, int],
    width: int,
) -> Rope:
    """With the products rounded, where that comes nearer to what the reference gives in its own types."""
    dtype = definition.inputs[form.rotated[0][0]].dtype.value
    if dtype == "float32":
        return form
    inputs = _inputs(definition, {name: 4 * size for name, size in axes.items()}, others, "own")
    truth = results_on(definition, inputs, wide=False, literals=literals)
    rounded = dataclasses.replace(form, products_rounded_to=dtype)
    errors = [_error(truth, rotated_by(way, inputs, width)) for way in (form, rounded)]
    return rounded if errors[1] < errors[0] else form


def _error(truth: list[torch.Tensor] | None, results: list[torch.Tensor] | None) -> float:
    if truth is None or results is None:
        return 0.0
    return sum(
        float((t.double() - r.to(t.dtype).double()).abs().mean()) for t, r in zip(truth, results, strict=True)
    )
