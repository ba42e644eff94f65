"""From a task to a `RowsBackward`: its reference gives what the derivative of RMSNorm gives."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from itertools import permutations, product
from typing import TYPE_CHECKING, Any

from agents.reading.identity import agree, normal, results_on, shrunk
from agents.templates.rows_backward.form import RowsBackward
from tasks.definition import AxisConst, Definition
from tasks.task import Task

if TYPE_CHECKING:
    import torch

_FLOATS = ("float32", "bfloat16", "float16")
_LONGEST = 32768
_WIDTH, _ROWS, _OTHER = 6, 5, 3


def recognise(task: Task) -> RowsBackward | None:
    definition = task.definition
    forms = list(_forms(task)) if len(definition.reference) < 8000 else []
    if not forms:
        return None
    tried = _tried(definition, forms[0])
    if tried is None:
        return None
    inputs, results = tried
    return next((form for form in forms if agree(results, _gradients_or_none(form, inputs) or [])), None)


def _forms(task: Task) -> Iterator[RowsBackward]:
    definition = task.definition
    specs = definition.inputs
    shapes = {n: tuple(s.shape or ()) for n, s in specs.items() if s.shape and s.dtype.value in _FLOATS}
    scalars = [n for n, s in specs.items() if s.shape is None]
    rows = next((s for s in shapes.values() if len(s) > 1 and list(shapes.values()).count(s) == 2), None)
    if rows is None or len(shapes) + len(scalars) != len(specs) or len(scalars) > 1:
        return
    pair = [n for n, s in shapes.items() if s == rows]
    gains = [n for n, s in shapes.items() if s == rows[-1:]]
    inverses = [n for n, s in shapes.items() if s in (rows[:-1], (*rows[:-1], "1")) and n not in gains]
    made = {n: tuple(s.shape or ()) for n, s in definition.outputs.items()}
    to_x = [n for n, s in made.items() if s == rows]
    to_weight = [n for n, s in made.items() if s == rows[-1:]]
    known = len(pair) + len(gains) + len(inverses) == len(shapes) and len(to_x) + len(to_weight) == len(made)
    if not known or max(map(len, (gains, inverses, to_x, to_weight))) > 1 or (inverses and scalars):
        return
    lengths = [definition.input_shapes(w.axes)[pair[0]] or (1,) for w in task.workloads]
    longest = max(shape[-1] for shape in lengths)
    if longest > _LONGEST:
        return
    epsilons: list[float | str | None] = [None] if inverses else [*scalars, *_small_numbers(definition)]
    for (upstream, x), eps, offset in product(permutations(pair), epsilons, (0.0, 1.0)):
        yield RowsBackward(
            x=x, upstream=upstream, weight=gains[0] if gains else None, weight_offset=offset,
            inverse_rms=inverses[0] if inverses else None, eps=eps, to_x=to_x[0] if to_x else None,
            to_weight=to_weight[0] if to_weight else None, longest=longest, inputs=tuple(specs),
            outputs=tuple(made),
        )  # fmt: skip


def _small_numbers(definition: Definition) -> list[float]:
    """What an epsilon may be, as written in the text."""
    nodes = ast.walk(ast.parse(definition.reference))
    numbers = {n.value for n in nodes if isinstance(n, ast.Constant) and isinstance(n.value, float)}
    return sorted(number for number in numbers if 0 < number < 0.01)


def _tried(
    definition: Definition, form: RowsBackward
) -> tuple[dict[str, Any], list[torch.Tensor] | None] | None:
    shape = definition.inputs[form.x].shape or ()
    sizes = {axis: _WIDTH if axis == shape[-1] else _ROWS if axis == shape[0] else _OTHER for axis in shape}
    constants = {a: size for a, size in sizes.items() if isinstance(definition.axes.get(a), AxisConst)}
    small, literals = shrunk(definition, constants)
    shapes = small.input_shapes({axis: sizes.get(axis, _OTHER) for axis in small.var_axes})
    inputs: dict[str, Any] = {
        name: 0.01 if shapes[name] is None else normal(*(shapes[name] or ()), seed=seed)
        for seed, name in enumerate(definition.inputs)
    }
    # so small that a wrong epsilon shows
    inputs[form.x] = 0.01 * inputs[form.x]
    return inputs, results_on(small, inputs, literals=literals)


def _gradients_or_none(form: RowsBackward, inputs: dict[str, Any]) -> list[torch.Tensor] | None:
    try:
        return gradients(form, inputs)
    except RuntimeError:
        return None


def gradients(form: RowsBackward, inputs: dict[str, Any]) -> list[torch.Tensor]:
    """The formula, in the type of its inputs or fp32."""
    import torch

    wide = torch.float64 if inputs[form.x].dtype == torch.float64 else torch.float32
    x, upstream = inputs[form.x].to(wide), inputs[form.upstream].to(wide)
    if form.inverse_rms is not None:
        inverse = inputs[form.inverse_rms].to(wide).reshape(*x.shape[:-1], 1)
    else:
        eps = inputs[form.eps] if isinstance(form.eps, str) else float(form.eps or 0.0)
        inverse = torch.rsqrt(x.square().mean(-1, keepdim=True) + eps)
    hat = x * inverse
    gained = (
        upstream if form.weight is None else upstream * (form.weight_offset + inputs[form.weight].to(wide))
    )
    found = {
        form.to_x: inverse * (gained - hat * (gained * hat).mean(-1, keepdim=True)),
        form.to_weight: (upstream * hat).flatten(0, -2).sum(0),
    }
    return [found[name] for name in form.outputs]
