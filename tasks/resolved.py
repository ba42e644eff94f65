"""A definition's axes and shapes at many sizes, each worked out once."""

from collections.abc import Mapping
from dataclasses import dataclass

from tasks.definition import Definition, Shape, TensorSpec


@dataclass(frozen=True)
class Resolved:
    """All axes, and the shape of every tensor (`None`: a Python scalar)."""

    axes: Mapping[str, int]
    inputs: Mapping[str, Shape | None]
    outputs: Mapping[str, Shape | None]


class Resolver:
    """Call it with a workload's axes. `ValueError` where an expression has no value there."""

    def __init__(self, definition: Definition) -> None:
        self.definition = definition
        self._known: dict[tuple[tuple[str, int], ...], Resolved] = {}

    def __call__(self, values: Mapping[str, int]) -> Resolved:
        key = tuple(values.items())
        if key not in self._known:
            axes = self.definition.resolve_axes(values)
            inputs, outputs = (
                {name: _shape(spec, axes) for name, spec in tensors.items()}
                for tensors in (self.definition.inputs, self.definition.outputs)
            )
            self._known[key] = Resolved(axes, inputs, outputs)
        return self._known[key]


def _shape(spec: TensorSpec, axes: Mapping[str, int]) -> Shape | None:
    if spec.shape is None:
        return None
    return tuple(int(axis) if axis.isdecimal() else axes[axis] for axis in spec.shape)
