"""From a task to a `Decoder`: shapes say which tensor may be what, numbers say whether it is so."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from itertools import permutations, product
from typing import Any

from agents.reading.identity import agree, normal, results_on, shrunk
from agents.templates.decoder.form import Attention, Decoder
from agents.templates.decoder.model import layer
from tasks.definition import AxisConst, Definition
from tasks.task import Task

_HIDDEN, _INNER, _TOKENS, _BATCH = 24, 20, 5, 2
_WIDTHS = (64, 128, 96, 80, 256)


def recognise(task: Task) -> Decoder | None:
    definition = task.definition
    forms = list(_forms(definition))
    if not forms:
        return None
    inputs, results = _tried(definition, forms[0])
    return next((form for form in forms if _fits(form, inputs, results)), None)


def _fits(form: Decoder, inputs: dict[str, Any], results: list[Any] | None) -> bool:
    try:
        return agree(results, [layer(form, inputs)], 1e-7)
    except RuntimeError:
        return False


def _forms(definition: Definition) -> Iterator[Decoder]:
    shapes = {n: tuple(s.shape) for n, s in definition.inputs.items() if s.shape is not None}
    (output, *more) = definition.outputs
    wanted = tuple(definition.outputs[output].shape or ())
    streams = [n for n, s in shapes.items() if s == wanted and s[-1:] != ("1",)]
    if more or len(streams) != 1 or len(wanted) < 2 or not 5 <= len(definition.inputs) <= 20:
        return
    stream, hidden = streams[0], wanted[-1]
    element = definition.inputs[stream].dtype.value
    gains = [n for n, s in shapes.items() if s == (hidden,)]
    into = [n for n, s in shapes.items() if len(s) == 2 and s[1] == hidden and n != stream]
    out_of = {n: shapes[n][1] for n, s in shapes.items() if len(s) == 2 and s[0] == hidden and n not in into}
    for down, inner in out_of.items():
        pair = [n for n in into if shapes[n][0] == inner]
        rest = [n for n in into if n not in pair]
        if len(pair) != 2 or len(gains) != (2 if rest else 1):
            continue
        halves = _attentions(definition, shapes, gains, rest, [n for n in out_of if n != down])
        for (gain, attention), (gate, up), eps in product(halves, permutations(pair), _epsilons(definition)):
            if attention is None or attention.scale != eps:
                yield Decoder(
                    stream, attention, gain, gate, up, down, eps, element, tuple(definition.inputs), output
                )


def _attentions(
    definition: Definition,
    shapes: dict[str, tuple[str, ...]],
    gains: list[str],
    into: list[str],
    mixes: list[str],
) -> list[tuple[str, Attention | None]]:
    """Each with the gain of the other norm; the MLP half alone where no other matrices are left."""
    if not into and not mixes:
        return [(gain, None) for gain in gains]
    queries = [n for n in into if len(mixes) == 1 and shapes[n][0] == shapes[mixes[0]][1]]
    others = [n for n in into if n not in queries]
    if len(queries) != 1 or len(others) != 2:
        return []
    specs = definition.inputs
    places = [n for n, s in specs.items() if s.shape is not None and s.dtype.value.startswith("int")]
    masks = [n for n, s in shapes.items() if len(s) == 4]
    scalars: list[str | None] = [None, *(n for n, s in specs.items() if s.shape is None)]
    heads = [n for n, s in shapes.items() if len(s) == 1 and n not in gains]
    head_gains = [n for n in heads if [shapes[m] for m in heads].count(shapes[n]) == 2]
    lone = [n for n in heads if n not in head_gains]
    gain_pairs: list[tuple[str | None, str | None]] = [(None, None)]
    if len(head_gains) == 2:
        one, two = head_gains
        gain_pairs = [(one, two), (two, one)]
    turns: list[tuple[str | None, float | None]] = [(n, None) for n in lone] or [
        (None, b) for b in _bases(definition)
    ]
    return [
        (
            gain,
            Attention(
                first, queries[0], key, value, mixes[0], width, query_gain, key_gain, frequencies, base,
                places[0] if places else None, masks[0] if masks else None, scale,
            ),
        )
        for (first, gain), (key, value), (query_gain, key_gain), (frequencies, base), scale, width in product(
            permutations(gains), permutations(others), gain_pairs, turns, scalars, _head_widths(definition)
        )
    ]  # fmt: skip


def _numbers(definition: Definition) -> list[int | float]:
    nodes = ast.walk(ast.parse(definition.reference))
    values = [node.value for node in nodes if isinstance(node, ast.Constant)]
    return [v for v in values if isinstance(v, int | float) and not isinstance(v, bool)]


def _epsilons(definition: Definition) -> list[float | str]:
    scalars: list[float | str] = [n for n, s in definition.inputs.items() if s.shape is None]
    return scalars or sorted({float(n) for n in _numbers(definition) if 0 < n < 0.01})


def _bases(definition: Definition) -> list[float | None]:
    return [None, *sorted({float(n) for n in _numbers(definition) if n >= 1000})]


def _head_widths(definition: Definition) -> list[int]:
    known = {e.value for e in definition.axes.values() if isinstance(e, AxisConst)} | set(
        _numbers(definition)
    )
    return [width for width in _WIDTHS if width in known]


def _tried(definition: Definition, form: Decoder) -> tuple[dict[str, Any], list[Any] | None]:
    """A few tokens in a narrow stream; heads keep their number and width, which references write out."""
    import torch

    specs = definition.inputs
    shape, inner = specs[form.stream].shape or (), (specs[form.gate].shape or ("",))[0]
    sizes = {
        shape[-1]: _HIDDEN,
        inner: _INNER,
        shape[-2]: _TOKENS,
        shape[0]: _BATCH if len(shape) > 2 else _TOKENS,
    }
    constants = {a: size for a, size in sizes.items() if isinstance(definition.axes.get(a), AxisConst)}
    small, literals = shrunk(definition, constants)
    shapes = small.input_shapes({axis: sizes.get(axis, 3) for axis in small.var_axes})
    inputs: dict[str, Any] = {}
    for seed, name in enumerate(specs):
        size = shapes[name]
        if size is None:
            inputs[name] = (0.3, 0.2)[seed % 2] + 0.01 * seed
        elif specs[name].dtype.value.startswith("int"):
            inputs[name] = torch.arange(size[-1]).expand(size) + 2
        else:
            inputs[name] = normal(*size, seed=seed) * (size[-1] ** -0.5 if len(size) == 2 else 0.5)
    return inputs, results_on(small, inputs, literals=literals)
