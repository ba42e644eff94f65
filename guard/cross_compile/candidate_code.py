"""The candidate's sources on disk and imported, and its entry function called as the evaluator calls it."""

from __future__ import annotations

import importlib
import importlib.util
import sys
from collections.abc import Callable
from math import prod
from pathlib import Path
from typing import Any

import torch

from tasks.definition import Definition
from tasks.dtypes import torch_dtype
from tasks.solution import Solution
from tasks.workload import Workload


def lay_out(solution: Solution, folder: Path) -> None:
    """Write the sources under `folder`."""
    for source in solution.sources:
        path = folder / source.path
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(source.content)


def import_entry(solution: Solution, folder: Path, name: str) -> Callable[..., Any]:
    """The entry function, from a module of its own called `name`; raises whatever the candidate raises."""
    for path in list(sys.modules):  # modules of an earlier import must not answer for this one
        if str(getattr(sys.modules[path], "__file__", None) or "").startswith(f"{folder}/"):
            del sys.modules[path]
    if str(folder) not in sys.path:
        sys.path.insert(0, str(folder))
    importlib.invalidate_caches()
    spec = importlib.util.spec_from_file_location(name, folder / solution.spec.entry_file)
    if spec is None or spec.loader is None:
        raise ImportError(f"{solution.spec.entry_file} is not a Python file")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    entry: Callable[..., Any] = getattr(module, solution.spec.entry_function)
    return entry


def meta_inputs(definition: Definition, workload: Workload) -> list[Any]:
    """Inputs of the true shapes without memory; scalars have their values, or 1 where they are drawn."""
    shapes, scalars = definition.input_shapes(workload.axes), workload.scalars
    inputs: list[Any] = []
    for name, spec in definition.inputs.items():
        shape = shapes[name]
        if name in scalars:
            inputs.append(scalars[name])
        elif shape is None:
            inputs.append(1.0 if torch_dtype(spec.dtype).is_floating_point else 1)
        else:
            inputs.append(torch.empty(shape, dtype=torch_dtype(spec.dtype), device="meta"))
    return inputs


def blank_outputs(definition: Definition, workload: Workload, device: str) -> list[torch.Tensor]:
    """The outputs that a function in destination-passing style fills."""
    shapes = definition.output_shapes(workload.axes)
    return [
        torch.zeros(shapes[name] or (), dtype=torch_dtype(spec.dtype), device=device)
        for name, spec in definition.outputs.items()
    ]


def bytes_of(definition: Definition, workload: Workload) -> tuple[int, int]:
    """Bytes of all inputs and of all outputs."""
    sides = (
        (definition.inputs, definition.input_shapes(workload.axes)),
        (definition.outputs, definition.output_shapes(workload.axes)),
    )
    read, written = (
        sum(prod(shapes[n] or ()) * spec.dtype.bytes for n, spec in tensors.items())
        for tensors, shapes in sides
    )
    return read, written
