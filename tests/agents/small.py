"""Small problems for agents, and a way to run what they propose."""

import importlib.util
import json
from collections.abc import Mapping
from pathlib import Path
from types import ModuleType
from typing import Any

import torch

from agents.proposal import Proposal
from tasks.candidate import Candidate
from tasks.definition import Definition
from tasks.loading import load
from tasks.solution import Hardware
from tasks.task import Task
from tasks.workload import InputSource, RandomInput, ScalarInput, Workload

Axes = Mapping[str, int]
Inputs = dict[str, Any]


def make_task(
    reference: str,
    inputs: Mapping[str, tuple[list[str] | None, str]],
    outputs: Mapping[str, tuple[list[str], str]],
    axes: Axes,
    consts: Axes | None = None,
) -> Task:
    """A task of one workload; `axes` are variable, `consts` are not."""
    definition = {
        "name": "small",
        "axes": {
            **{name: {"type": "var"} for name in axes},
            **{name: {"type": "const", "value": value} for name, value in (consts or {}).items()},
        },
        "inputs": {name: {"shape": shape, "dtype": dtype} for name, (shape, dtype) in inputs.items()},
        "outputs": {name: {"shape": shape, "dtype": dtype} for name, (shape, dtype) in outputs.items()},
        "reference": reference,
    }
    sources: dict[str, InputSource] = {
        name: ScalarInput(value=1e-5) if shape is None else RandomInput()
        for name, (shape, _) in inputs.items()
    }
    workload = Workload(axes=dict(axes), inputs=sources, uuid="00000000-0000-0000-0000-000000000001")
    return Task(name="small", definition=Definition.model_validate(definition), workloads=(workload,))


def shipped(name: str, consts: Axes, axes: Axes) -> Task:
    """A shipped task with its first workload at `axes`, and constant axes made small."""
    task = load(name)
    raw = json.loads(task.definition.model_dump_json())
    for axis, value in consts.items():
        assert raw["axes"][axis]["type"] == "const"
        raw["axes"][axis]["value"] = value
    workload = task.workloads[0].model_copy(update={"axes": dict(axes)})
    return task.model_copy(update={"definition": Definition.model_validate(raw), "workloads": (workload,)})


def draw(task: Task, seed: int = 0) -> Inputs:
    """Inputs of the first workload: matrices scaled by their last size, everything else N(0, 1)."""
    workload = task.workloads[0]
    generator = torch.Generator().manual_seed(seed)
    drawn: Inputs = {}
    for name, shape in task.definition.input_shapes(workload.axes).items():
        if shape is None:
            drawn[name] = workload.scalars[name]
        else:
            scale = shape[-1] ** -0.5 if "weight" in name and len(shape) > 1 else 1.0
            values = torch.randn(shape, generator=generator) * scale
            drawn[name] = values.to(getattr(torch, task.definition.inputs[name].dtype.value))
    return drawn


def expected(task: Task, inputs: Inputs) -> list[torch.Tensor]:
    namespace: dict[str, Any] = {}
    exec(compile(task.definition.reference, "reference", "exec"), namespace)
    return as_list(namespace["run"](*inputs.values()))


def actual(task: Task, candidate: Candidate, inputs: Inputs, folder: Path) -> list[torch.Tensor]:
    """What the candidate gives; outputs that it fills start as NaN."""
    module = imported(candidate, folder)
    if not candidate.solution.spec.destination_passing_style:
        return as_list(module.run(*inputs.values()))
    outputs = poisoned(task)
    assert module.run(*inputs.values(), *outputs) is None
    return outputs


def poisoned(task: Task) -> list[torch.Tensor]:
    """Outputs of the first workload to be filled, all NaN."""
    shapes = task.definition.output_shapes(task.workloads[0].axes)
    return [
        torch.full(shapes[name] or (), float("nan"), dtype=getattr(torch, spec.dtype.value))
        for name, spec in task.definition.outputs.items()
    ]


def written(task: Task, proposal: Proposal, folder: Path) -> Path:
    """The file of a proposal, under a name of its own."""
    candidate = proposal.candidate(task, "template", Hardware.B200)
    path = folder / f"k_{candidate.digest[:12]}.py"
    path.write_text(proposal.source)
    return path


def imported(candidate: Candidate, folder: Path) -> ModuleType:
    """The candidate's module, from a file, since Triton reads kernels from there."""
    path = folder / f"candidate_{candidate.digest[:12]}.py"
    path.write_text(candidate.solution.sources[0].content)
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def as_list(result: Any) -> list[torch.Tensor]:
    if isinstance(result, dict):
        return list(result.values())
    return list(result) if isinstance(result, tuple | list) else [result]


def worst_error(actual: list[torch.Tensor], wanted: list[torch.Tensor]) -> float:
    """Largest |a - w| over outputs, relative to max(|w|, the rms of w)."""
    worst = 0.0
    for a, w in zip(actual, wanted, strict=True):
        assert (a.shape, a.dtype) == (w.shape, w.dtype)
        a, w = a.double(), w.double()
        floor = w.square().mean().sqrt()
        worst = max(worst, float(((a - w).abs() / w.abs().clamp(min=floor)).max()))
    return worst
