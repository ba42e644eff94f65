"""From a task to a `MoeBackward`: shapes say which tensor may be what, numbers say whether it is so."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import permutations
from typing import TYPE_CHECKING

from agents.reading.identity import agree, normal, results_on, shrunk
from agents.templates.moe_backward.form import MoeBackward
from tasks.definition import AxisConst, Definition, TensorSpec
from tasks.task import Task

if TYPE_CHECKING:
    import torch

_FLOATS = ("float32", "bfloat16", "float16")
_INTEGERS = ("int32", "int64")
_SMALL = {"tokens": 7, "hidden": 6, "inner": 5, "experts": 4, "slots": 2}


def recognise(task: Task) -> MoeBackward | None:
    definition = task.definition
    axes = _axes(definition)
    if axes is None:
        return None
    forms = list(_forms(definition, axes))
    if not forms:
        return None
    inputs, results = _tried(definition, axes, forms[0])
    return next((form for form in forms if agree(results, gradients(form, inputs))), None)


def _axes(definition: Definition) -> dict[str, str] | None:
    """The axis that is each size; told by the one integer input and the tensors of three dimensions."""
    shapes = [spec.shape or () for spec in definition.inputs.values()]
    chosen = [s.shape or () for s in definition.inputs.values() if s.dtype.value in _INTEGERS]
    cubes = [shape for shape in shapes if len(shape) == 3]
    if len(definition.inputs) != 7 or len(chosen) != 1 or len(chosen[0]) != 2 or len(cubes) != 3:
        return None
    twice = next((shape for shape in cubes if cubes.count(shape) == 2), None)
    if twice is None:
        return None
    (tokens, slots), (experts, inner, hidden) = chosen[0], twice
    axes = {"tokens": tokens, "slots": slots, "experts": experts, "inner": inner, "hidden": hidden}
    return axes if len(set(axes.values())) == 5 and all(a in definition.axes for a in axes.values()) else None


def _forms(definition: Definition, axes: dict[str, str]) -> Iterator[MoeBackward]:
    token, slot = (axes["tokens"], axes["hidden"]), (axes["tokens"], axes["slots"])
    wide, narrow = (
        (axes["experts"], axes["inner"], axes["hidden"]),
        (axes["experts"], axes["hidden"], axes["inner"]),
    )
    given, made = definition.inputs, definition.outputs
    ours = [_named(given, shape, _FLOATS) for shape in (token, slot, wide, narrow)]
    theirs = [_named(made, shape, _FLOATS) for shape in (token, slot, wide, narrow)]
    if [len(n) for n in ours] != [2, 1, 2, 1] or [len(n) for n in theirs] != [1, 1, 2, 1] or len(made) != 5:
        return
    element = given[ours[0][0]].dtype.value
    if any(given[name].dtype.value != element for name in (*ours[0], *ours[2], *ours[3])):
        return
    (chosen,) = _named(given, slot, _INTEGERS)
    for upstream, tokens in permutations(ours[0]):
        for gate, up in permutations(ours[2]):
            for to_gate, to_up in permutations(theirs[2]):
                yield MoeBackward(
                    upstream, tokens, chosen, ours[1][0], gate, up, ours[3][0],
                    theirs[0][0], theirs[1][0], to_gate, to_up, theirs[3][0],
                    element=element, slots=_constant(definition, axes["slots"]) or 0,
                    hidden=_constant(definition, axes["hidden"]), inner=_constant(definition, axes["inner"]),
                    inputs=tuple(given), outputs=tuple(made),
                )  # fmt: skip


def _named(specs: dict[str, TensorSpec], shape: tuple[str, ...], dtypes: tuple[str, ...]) -> list[str]:
    return [n for n, s in specs.items() if tuple(s.shape or ()) == shape and s.dtype.value in dtypes]


def _constant(definition: Definition, axis: str) -> int | None:
    entry = definition.axes[axis]
    return entry.value if isinstance(entry, AxisConst) else None


def _tried(
    definition: Definition, axes: dict[str, str], form: MoeBackward
) -> tuple[dict[str, torch.Tensor], list[torch.Tensor] | None]:
    """Small inputs, one expert of which gets no slot, and what the reference gives for them."""
    import torch

    sizes = {axis: _SMALL[role] for role, axis in axes.items()}
    constants = {axis: size for axis, size in sizes.items() if isinstance(definition.axes[axis], AxisConst)}
    small, literals = shrunk(definition, constants)
    shapes = small.input_shapes({axis: sizes.get(axis, 3) for axis in small.var_axes})
    inputs = {
        name: normal(*(shapes[name] or ()), seed=seed)
        for seed, name in enumerate(definition.inputs)
        if name != form.chosen
    }
    scores = normal(_SMALL["tokens"], _SMALL["experts"] - 1, seed=99)
    inputs[form.chosen] = scores.topk(_SMALL["slots"], dim=-1).indices.to(torch.int64)
    return inputs, results_on(small, inputs, literals=literals)


def gradients(form: MoeBackward, inputs: dict[str, torch.Tensor]) -> list[torch.Tensor]:
    """The formula, slot by slot, in fp64."""
    import torch

    chosen = inputs[form.chosen]
    x, g = inputs[form.tokens], inputs[form.upstream]
    gate, up, down = (inputs[name] for name in (form.gate, form.up, form.down))
    share = inputs[form.share][..., None]
    a, b = (torch.einsum("th,tkih->tki", x, matrix[chosen]) for matrix in (gate, up))
    sigmoid = torch.sigmoid(a)
    inside = a * sigmoid * b
    to_inside = torch.einsum("th,tkhi->tki", g, down[chosen])
    to_a = to_inside * share * b * sigmoid * (1 + a * (1 - sigmoid))
    to_b = to_inside * share * a * sigmoid
    member = torch.nn.functional.one_hot(chosen, gate.shape[0]).to(x.dtype)
    found = {
        form.to_tokens: torch.einsum("tki,tkih->th", to_a, gate[chosen])
        + torch.einsum("tki,tkih->th", to_b, up[chosen]),
        form.to_share: (to_inside * inside).sum(-1),
        form.to_gate: torch.einsum("tke,tki,th->eih", member, to_a, x),
        form.to_up: torch.einsum("tke,tki,th->eih", member, to_b, x),
        form.to_down: torch.einsum("tke,th,tki->ehi", member, g, inside * share),
    }
    return [found[name] for name in form.outputs]
