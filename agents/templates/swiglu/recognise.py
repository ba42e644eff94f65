"""From a task to a `Gated`: its reference gives what an activation times the other half gives."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from typing import TYPE_CHECKING

from agents.reading.identity import agree, normal, results_on, shrunk
from agents.templates.swiglu.form import ACTIVATIONS, Gated
from tasks.definition import AxisConst, Definition
from tasks.task import Task

if TYPE_CHECKING:
    import torch

_FLOATS = ("float32", "bfloat16", "float16")
_ROWS, _WIDTH = 3, 6


def recognise(task: Task) -> Gated | None:
    """None unless the one output is an activation of one half (or input) times the other."""
    definition = task.definition
    specs = definition.inputs
    if len(definition.outputs) != 1 or not 1 <= len(specs) <= 2 or len(definition.reference) > 6000:
        return None
    if any(spec.shape is None or spec.dtype.value not in _FLOATS for spec in specs.values()):
        return None
    (output,) = definition.outputs
    for form in _forms(tuple(specs), output, len(specs[next(iter(specs))].shape or ()) > 1):
        if _fits(task, form):
            return _with_rounding(task, form)
    return None


def _forms(inputs: tuple[str, ...], output: str, has_rows: bool) -> Iterator[Gated]:
    if not has_rows:
        return
    orders = product(ACTIVATIONS, (True, False))
    for activation, first in orders:
        gate, up = (inputs if first else inputs[::-1]) if len(inputs) == 2 else (inputs[0], inputs[0])
        yield Gated(activation, gate, up, first or len(inputs) == 2, None, inputs, output)


def _fits(task: Task, form: Gated) -> bool:
    shapes = [spec.shape for spec in task.definition.inputs.values()]
    if not form.halves and shapes[0] != shapes[1]:
        return False
    inputs = _inputs(task, form, "float64")
    small, literals = _small(task.definition, form)
    return agree(results_on(small, inputs, literals=literals), [model(form, inputs)], 1e-6)


def _with_rounding(task: Task, form: Gated) -> Gated:
    """As the reference does with its own types: the product of a rounded activation, or of one in fp32."""
    import dataclasses

    import torch

    dtype = task.definition.inputs[form.gate].dtype.value
    if dtype == "float32":
        return form
    inputs = _inputs(task, form, dtype, wide_rows=256)
    small, literals = _small(task.definition, form)
    results = results_on(small, inputs, wide=False, literals=literals)
    if results is None:
        return form
    rounded = dataclasses.replace(form, activated_rounded_to=dtype)
    truth = results[0].double()
    errors = [
        (model(way, inputs).to(getattr(torch, dtype)).double() - truth).abs().mean()
        for way in (form, rounded)
    ]
    return rounded if errors[1] < errors[0] else form


def _small(definition: Definition, form: Gated) -> tuple[Definition, dict[int, int]]:
    """With narrow rows, where their width is a constant, which the reference may have written out."""
    given, made = (definition.inputs[form.gate].shape or ()), (definition.outputs[form.output].shape or ())
    sizes = {given[-1]: _WIDTH * (2 if form.halves else 1), made[-1]: _WIDTH}
    return shrunk(
        definition, {a: n for a, n in sizes.items() if isinstance(definition.axes.get(a), AxisConst)}
    )


def _inputs(task: Task, form: Gated, dtype: str, wide_rows: int = _ROWS) -> dict[str, torch.Tensor]:
    """A matrix of rows, whatever the number of dimensions is called for."""
    inputs = {}
    for seed, (name, spec) in enumerate(task.definition.inputs.items()):
        lead = (1,) * (len(spec.shape or ()) - 2)
        inputs[name] = normal(*lead, wide_rows, _WIDTH * (2 if form.halves else 1), seed=seed, dtype=dtype)
    return inputs


def model(form: Gated, inputs: dict[str, torch.Tensor]) -> torch.Tensor:
    """The formula in torch, in fp64 for fp64 inputs and else in fp32."""
    import torch

    gate, up = inputs[form.gate], inputs[form.up]
    if form.halves:
        halves = gate.chunk(2, dim=-1)
        gate, up = halves if form.gate_is_first else halves[::-1]
    work = torch.float64 if gate.dtype == torch.float64 else torch.float32
    activated = _activated(form.activation, gate.to(work))
    if form.activated_rounded_to is not None:
        activated = activated.to(getattr(torch, form.activated_rounded_to)).to(work)
    return activated * up.to(work)


def _activated(name: str, x: torch.Tensor) -> torch.Tensor:
    import torch

    functional = torch.nn.functional
    match name:
        case "silu":
            return functional.silu(x)
        case "gelu":
            return functional.gelu(x)
        case "gelu_tanh":
            return functional.gelu(x, approximate="tanh")
        case "sigmoid":
            return torch.sigmoid(x)
        case "relu":
            return functional.relu(x)
        case _:
            return x * torch.sigmoid(1.702 * x)
