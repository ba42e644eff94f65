"""From a task to a `MoeFp8`: shapes say which tensor is what, numbers say how experts are chosen."""

from __future__ import annotations

import ast
import dataclasses
from collections.abc import Iterator
from itertools import product
from typing import TYPE_CHECKING

from agents.reading.identity import agree, normal, results_on, shrunk
from agents.templates.moe_fp8.form import MoeFp8
from tasks.definition import AxisConst, Definition
from tasks.task import Task

if TYPE_CHECKING:
    import torch

_FP8 = "float8_e4m3fn"
_BLOCK = 128
_USUAL = ((8, 4, 8), (8, 4, 6), (4, 2, 8), (1, 1, 8))
"""Groups, groups chosen, experts chosen."""
Choice = tuple[int, int, int]


def recognise(task: Task) -> MoeFp8 | None:
    definition = task.definition
    form = _roles(definition)
    if form is None:
        return None
    tried = _tried(definition, form)
    if tried is None:
        return None
    inputs, results = tried
    if results is None:
        return None
    for (groups, chosen, slots), first in product(_choices(definition, inputs, form), (True, False)):
        way = dataclasses.replace(form, groups=groups, groups_chosen=chosen, slots=slots, gate_is_first=first)
        if agree(results, [layer(way, inputs)], 1e-6):
            return way
    return None


def _roles(definition: Definition) -> MoeFp8 | None:
    """By types and shapes; what numbers have to tell is left open."""
    specs = definition.inputs
    fp8 = {n: s.shape or () for n, s in specs.items() if s.dtype.value == _FP8}
    tokens = [n for n, shape in fp8.items() if len(shape) == 2]
    cubes = [n for n, shape in fp8.items() if len(shape) == 3]
    scalars = {n: s.dtype.value for n, s in specs.items() if s.shape is None}
    whole = [n for n, dtype in scalars.items() if dtype.startswith("int")]
    if len(specs) != 10 or len(tokens) != 1 or len(cubes) != 2 or len(scalars) != 2 or len(whole) != 1:
        return None
    count, hidden = fp8[tokens[0]]
    out_of = [n for n in cubes if fp8[n][1] == hidden]
    into = [n for n in cubes if fp8[n][2] == hidden]
    if len(out_of) != 1 or len(into) != 1 or out_of == into or len(definition.outputs) != 1:
        return None
    inner = fp8[out_of[0]][2]
    rest = {n: s.shape or () for n, s in specs.items() if n not in fp8 and n not in scalars}
    vectors = [n for n, shape in rest.items() if len(shape) == 1]
    squares = [n for n, shape in rest.items() if len(shape) == 2]
    scales = [n for n, shape in rest.items() if len(shape) == 3]
    logits = [n for n in squares if vectors and rest[n] == (count, *rest[vectors[0]])]
    if len(vectors) != 1 or len(logits) != 1 or len(squares) != 2 or len(scales) != 2:
        return None
    (token_scale,) = (n for n in squares if n not in logits)
    sizes = [_constant(definition, hidden), _constant(definition, inner)]
    first = [n for n in scales if rest[n][1] == (set(rest[token_scale]) - {count}).pop()]
    if None in sizes or len(first) != 1 or any((size or 1) % _BLOCK for size in sizes):
        return None
    (last,) = (n for n in scales if n not in first)
    return MoeFp8(
        logits=logits[0], correction=vectors[0], tokens=tokens[0], token_scale=token_scale,
        scale_is_transposed=rest[token_scale][1] == count, into=into[0], into_scale=last, out_of=out_of[0],
        out_of_scale=first[0], first_local=whole[0], routed_scale=next(n for n in scalars if n not in whole),
        groups=0, groups_chosen=0, slots=0, gate_is_first=True, block=_BLOCK, hidden=sizes[0] or 0,
        inner=sizes[1] or 0, inputs=tuple(specs), output=next(iter(definition.outputs)),
    )  # fmt: skip


def _constant(definition: Definition, axis: str) -> int | None:
    entry = definition.axes.get(axis)
    return entry.value if isinstance(entry, AxisConst) else None


def _tried(
    definition: Definition, form: MoeFp8
) -> tuple[dict[str, torch.Tensor], list[torch.Tensor] | None] | None:
    """A layer of two blocks by one, and what the reference gives for it; experts stay as many as they are."""
    hidden, inner = 2 * _BLOCK, _BLOCK
    shapes = {name: spec.shape or () for name, spec in definition.inputs.items()}
    wanted = {
        shapes[form.tokens][1]: hidden, shapes[form.into][1]: 2 * inner, shapes[form.out_of][2]: inner,
        shapes[form.out_of_scale][1]: 2, shapes[form.into_scale][1]: 2, shapes[form.out_of_scale][2]: 1,
    }  # fmt: skip
    constants = {a: size for a, size in wanted.items() if isinstance(definition.axes.get(a), AxisConst)}
    small, literals = shrunk(definition, constants)
    sizes = small.input_shapes({axis: 4 if axis != shapes[form.tokens][0] else 12 for axis in small.var_axes})
    if any((sizes[name] or ())[axis] % _BLOCK for name, axis in ((form.into, 1), (form.into, 2))):
        return None
    inputs = {name: normal(*(sizes[name] or ()), seed=seed) for seed, name in enumerate(definition.inputs)}
    for name in (form.token_scale, form.into_scale, form.out_of_scale):
        inputs[name] = inputs[name].abs() + 0.5
    inputs[form.into] = inputs[form.into] * hidden**-0.5
    experts, local = inputs[form.logits].shape[1], inputs[form.into].shape[0]
    inputs[form.correction] = 0.1 * inputs[form.correction]
    inputs[form.first_local] = min(local, experts - local)
    inputs[form.routed_scale] = 2.5
    return inputs, results_on(small, inputs, literals=literals)


def _choices(definition: Definition, inputs: dict[str, torch.Tensor], form: MoeFp8) -> Iterator[Choice]:
    """What is usual, then whatever the small numbers of the text allow."""
    experts = inputs[form.logits].shape[1]
    numbers = sorted({
        node.value for node in ast.walk(ast.parse(definition.reference))
        if isinstance(node, ast.Constant) and type(node.value) is int and 1 <= node.value <= 32
    })  # fmt: skip
    for groups, chosen, slots in dict.fromkeys((*_USUAL, *product(numbers, repeat=3))):
        if experts % groups == 0 and chosen <= groups and slots <= experts // groups * chosen:
            yield groups, chosen, slots


def layer(form: MoeFp8, inputs: dict[str, torch.Tensor]) -> torch.Tensor:
    """The formula in fp64, every expert for every token."""
    import torch

    affinity = torch.sigmoid(inputs[form.logits])
    swayed = affinity + inputs[form.correction].double()
    by_group = swayed.view(len(swayed), form.groups, -1)
    strength = by_group.topk(min(2, by_group.shape[-1]), dim=-1).values.sum(-1)
    open_groups = torch.zeros_like(strength).scatter_(1, strength.topk(form.groups_chosen).indices, 1.0) > 0
    expert = by_group.masked_fill(~open_groups[..., None], float("-inf")).flatten(1).topk(form.slots).indices
    weight = torch.zeros_like(affinity).scatter_(1, expert, affinity.gather(1, expert))
    weight = weight / weight.sum(-1, keepdim=True) * float(inputs[form.routed_scale])
    scale = inputs[form.token_scale].T if form.scale_is_transposed else inputs[form.token_scale]
    tokens = inputs[form.tokens] * scale.repeat_interleave(form.block, 1)
    into, out_of = (
        inputs[name] * inputs[by].repeat_interleave(form.block, 1).repeat_interleave(form.block, 2)
        for name, by in ((form.into, form.into_scale), (form.out_of, form.out_of_scale))
    )
    halves = torch.einsum("th,eih->tei", tokens, into).chunk(2, dim=-1)
    gate, up = halves if form.gate_is_first else halves[::-1]
    made = torch.einsum("tei,ehi->teh", torch.nn.functional.silu(gate) * up, out_of)
    first = int(inputs[form.first_local])
    return torch.einsum("teh,te->th", made, weight[:, first : first + len(into)])
