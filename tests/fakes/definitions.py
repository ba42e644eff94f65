"""Definitions, workloads and tasks made by hand, from as few words as a test needs."""

from collections.abc import Mapping, Sequence
from typing import Any

from tasks.definition import Definition
from tasks.task import Task
from tasks.workload import Workload


def definition(
    inputs: Mapping[str, Any],
    axes: Mapping[str, int | str | None],
    outputs: Mapping[str, Any] | None = None,
    reference: str = "",
    **fields: Any,
) -> Definition:
    """Tensors as `"dtype axis axis"` (`"dtype"` 0-d, `"dtype ()"` a scalar) or as the official object.

    Axes: a number is `const`, `None` is `var`, text is an expression.
    """
    body = reference or f"def run({', '.join(inputs)}):\n    return None\n"
    return Definition.model_validate(
        {
            "name": "handmade",
            "axes": {name: _axis(value) for name, value in axes.items()},
            "inputs": {name: _tensor(said) for name, said in inputs.items()},
            "outputs": {name: _tensor(said) for name, said in (outputs or {"out": "float32"}).items()},
            "reference": body,
            **fields,
        }
    )


def workload(axes: Mapping[str, int], uuid: str = "w", **inputs: Any) -> Workload:
    """Inputs by name as the official object; those not named are random."""
    return Workload.model_validate({"axes": axes, "inputs": inputs, "uuid": uuid})


def task(of: Definition, sizes: Sequence[Mapping[str, int]], **inputs: Any) -> Task:
    """One workload for each of `sizes`, all with the same `inputs`."""
    workloads = tuple(workload(axes, f"w{number}", **inputs) for number, axes in enumerate(sizes))
    return Task(name="handmade", definition=of, workloads=workloads)


def recorded(key: str, path: str = "blobs/recording.safetensors") -> dict[str, str]:
    return {"type": "safetensors", "path": path, "tensor_key": key}


def _axis(value: int | str | None) -> dict[str, Any]:
    if value is None:
        return {"type": "var"}
    if isinstance(value, str):
        return {"type": "expr", "expression": value}
    return {"type": "const", "value": value}


def _tensor(said: Any) -> dict[str, Any]:
    if not isinstance(said, str):
        return dict(said)
    dtype, *shape = said.split()
    return {"dtype": dtype, "shape": None if shape == ["()"] else shape}
