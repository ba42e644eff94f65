"""From a row of a table and a `reference.py` to the two official files of a task."""

import json
from pathlib import Path
from typing import Literal
from uuid import UUID, uuid5

from tasks.definition import AxisConst, AxisExpr, AxisVar, Definition, DType, TensorSpec
from tasks.value import Value, canonical_json
from tasks.workload import CustomInput, RandomInput, ScalarInput, Tolerance, Workload

TASKS = Path(__file__).resolve().parents[2] / "tasks"
NAMESPACE = UUID("6f0f7c1e-6f6e-5b8e-9d0a-3d6b1f0a7c55")
"""Under which a workload's uuid is made from its task and axes; changing it changes every digest."""

Axis = AxisConst | AxisVar | AxisExpr


def const(value: int, about: str) -> AxisConst:
    return AxisConst(value=value, description=about)


def var(about: str) -> AxisVar:
    return AxisVar(description=about)


def expr(expression: str, about: str) -> AxisExpr:
    return AxisExpr(expression=expression, description=about)


def tensor(dtype: str, shape: str, about: str) -> TensorSpec:
    """`shape` is axis names separated by spaces."""
    return TensorSpec(shape=tuple(shape.split()), dtype=DType(dtype), description=about)


def scalar(dtype: str, about: str) -> TensorSpec:
    return TensorSpec(shape=None, dtype=DType(dtype), description=about)


class Size(Value):
    """One workload: values of the `var` axes, and of the scalars that a random workload fixes."""

    axes: dict[str, int]
    scalars: dict[str, int | float] = {}


class ShippedTask(Value):
    """A task as it is written down here; `reference.py` in its folder completes it."""

    name: str
    folder: Literal["L1", "L2", "Quantization", "FlashInfer"]
    op_type: str
    hf_id: str
    computes: str
    """What it computes and where its sizes come from."""
    bound_by: str
    """What limits a good kernel; for `docs/shipped-tasks.md`."""
    tolerance_because: str
    """Why the tolerance is what it is, with figures of `scripts/tolerance_table.py`."""
    axes: dict[str, Axis]
    inputs: dict[str, TensorSpec]
    outputs: dict[str, TensorSpec]
    custom: bool = False
    """Inputs are made by `get_inputs` of the reference instead of the official rules by name."""
    sizes: tuple[Size, ...]
    tolerance: Tolerance

    @property
    def path(self) -> Path:
        return TASKS / self.folder / self.name

    def definition(self) -> Definition:
        return Definition(
            name=self.name,
            op_type=self.op_type,
            axes=self.axes,
            custom_inputs_entrypoint="get_inputs" if self.custom else None,
            inputs=self.inputs,
            outputs=self.outputs,
            reference=(self.path / "reference.py").read_text(),
            description=" ".join(f"{self.computes} {self.tolerance_because}".split()),
            hf_id=self.hf_id,
        )

    def workloads(self) -> tuple[Workload, ...]:
        return tuple(self._workload(size) for size in self.sizes)

    def files(self) -> dict[Path, str]:
        """The text of `definition.json` and `workload.jsonl`, by path."""
        definition = self.definition().model_dump(mode="json", exclude_none=True)
        definition["inputs"] = {name: spec.model_dump(mode="json") for name, spec in self.inputs.items()}
        lines = [
            json.dumps(workload.model_dump(mode="json", exclude_none=True)) for workload in self.workloads()
        ]
        return {
            self.path / "definition.json": json.dumps(definition, indent=2) + "\n",
            self.path / "workload.jsonl": "\n".join(lines) + "\n",
        }

    def _workload(self, size: Size) -> Workload:
        source = CustomInput() if self.custom else RandomInput()
        fixed = {name: ScalarInput(value=value) for name, value in size.scalars.items()}
        return Workload(
            axes=size.axes,
            inputs={name: fixed.get(name, source) for name in self.inputs},
            uuid=str(uuid5(NAMESPACE, f"{self.name}:{canonical_json(size.axes)}")),
            tolerance=self.tolerance,
        )


def sizes(names: str, rows: str, **scalars: int | float) -> tuple[Size, ...]:
    """One workload a word of `rows`, such as `1x128`: the values of the axes `names`, in that order."""
    return tuple(
        Size(axes=dict(zip(names.split(), map(int, row.split("x")), strict=True)), scalars=scalars)
        for row in rows.split()
    )
