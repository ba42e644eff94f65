"""The record of one run: names for values, their versions, and the steps in order."""

from __future__ import annotations

import sys
from typing import Any

import torch

from tasks.graph.kinds import is_view, name_of
from tasks.graph.model import Tensor
from tasks.graph.steps import Place, Ref, Step, Work, dtype_name

MOST_STEPS = 400_000
"""A record longer than this is given up: nothing that follows could use it."""


class TooLong(Exception):
    """The reference does more than can be recorded."""


class Trace:
    """Steps as they are noted. Tensors are told apart by storage and geometry, so any view finds its name."""

    def __init__(self, file: str) -> None:
        self.file = file
        self.steps: list[Step] = []
        self.inputs: list[Tensor] = []
        self.constants: dict[str, torch.Tensor] = {}
        self.notes: dict[str, None] = {}
        self.on = False
        self.times = 1
        self.recorded = 0
        self._places: dict[int, Place] = {}

    def add_input(self, name: str, tensor: torch.Tensor) -> None:
        self.inputs.append(_described(name, tensor))
        self._begin(name, tensor)

    def add_constant(self, tensor: torch.Tensor, real: torch.Tensor) -> None:
        """A tensor that the host made and that meets others here."""
        name = f"constant_{len(self.steps)}"
        self.constants[name] = real
        work = Work(kind="make", written=tensor.numel() * tensor.element_size())
        self.steps.append(
            Step(name, "constant", (), {}, (), (), (), (_described(name, tensor),), (name,), work, self.times)
        )
        self._begin(name, tensor)

    def name_of(self, tensor: torch.Tensor) -> str:
        """The value's name; a tensor never seen before (made while nothing was noted) becomes a constant."""
        return self._operand(tensor)[0]

    def root_of(self, tensor: torch.Tensor) -> str:
        """What is in its storage now: the value as it was made, or as it was last written."""
        return self._operand(tensor)[1]

    def _operand(self, tensor: torch.Tensor) -> tuple[str, str, bool]:
        """Its name, what is in its storage now, and whether that was written after the name was given."""
        place = self._places.get(tensor.untyped_storage()._cdata)
        if place is None:
            self.add_constant(tensor, tensor)
            place = self._places[tensor.untyped_storage()._cdata]
        name, version = place.names.get(_geometry(tensor), (place.root, place.root))
        return name, place.version, version != place.version

    def note(
        self, function: Any, args: Any, kwargs: Any, operands: list[torch.Tensor], out: Any,
        mutated: torch.Tensor | None, work: Work, rows: Any = None, touched: dict[str, int] | None = None,
    ) -> None:  # fmt: skip
        """Append a step; `out` is what the call returned, `mutated` what it overwrote."""
        if len(self.steps) >= MOST_STEPS:
            raise TooLong(f"more than {MOST_STEPS} operations")
        self.recorded += 1
        found = [self._operand(tensor) for tensor in operands]  # first: a constant is a step of its own
        base = name_of(function)
        name = f"{base}_{len(self.steps)}"
        returned = out if isinstance(out, tuple | list) else (out,)
        places = tuple(i for i, t in enumerate(returned) if isinstance(t, torch.Tensor))
        step = Step(
            name, function, self._refs(args), self._refs(kwargs), tuple([one[0] for one in found]),
            tuple([one[1] for one in found]), tuple([one[1] for one in found if one[2]]), (), (), work, self.times, self._line(), rows=rows, touched=touched,
            regions=tuple(_region(tensor) for tensor in operands),
        )  # fmt: skip
        self.steps.append(step)
        if mutated is not None:
            self._next_version(step, mutated)
        else:
            step.places = places
            self._made(step, [returned[i] for i in places], isinstance(out, tuple | list), is_view(function, base))

    def _made(self, step: Step, results: list[torch.Tensor], several: bool, view: bool) -> None:
        outputs, roots = [], []
        for index, tensor in enumerate(results):
            name = f"{step.name}_out{index}" if several else step.name
            outputs.append(_described(name, tensor))
            place = self._places.get(tensor.untyped_storage()._cdata)
            if place is None:
                place = self._begin(name, tensor)
            elif not view and place.version not in step.operands:
                place.version = name
            place.names[_geometry(tensor)] = (name, place.version)
            roots.append(place.version)
        step.outputs, step.output_roots = tuple(outputs), tuple(roots)

    def _next_version(self, step: Step, mutated: torch.Tensor) -> None:
        place = self._places[mutated.untyped_storage()._cdata]
        step.mutates = place.version
        step.outputs = (_described(step.name, mutated),)
        step.output_roots = (step.name,)
        place.version = step.name
        place.names[_geometry(mutated)] = (step.name, step.name)

    def _begin(self, name: str, tensor: torch.Tensor) -> Place:
        storage = tensor.untyped_storage()
        place = Place(name, name, storage._weak_ref(), {_geometry(tensor): (name, name)})
        self._places[storage._cdata] = place
        return place

    def _refs(self, value: Any) -> Any:
        if isinstance(value, torch.Tensor):
            return Ref(self.name_of(value))
        if isinstance(value, dict):
            return {key: self._refs(item) for key, item in value.items()}
        if isinstance(value, list | tuple):
            return [self._refs(item) for item in value]
        return value

    def _line(self) -> int | None:
        """Of the reference's source; the innermost of its frames."""
        frame = sys._getframe(2)
        while frame is not None:
            if frame.f_code.co_filename == self.file:
                return frame.f_lineno
            frame = frame.f_back  # type: ignore[assignment]
        return None


def _described(name: str, tensor: torch.Tensor) -> Tensor:
    return Tensor.model_construct(name=name, shape=tuple(tensor.shape), dtype=dtype_name(tensor.dtype))


def _geometry(tensor: torch.Tensor) -> tuple[Any, ...]:
    return tensor.storage_offset(), tensor.size(), tensor.stride(), tensor.dtype


def _region(tensor: torch.Tensor) -> tuple[int, int, int] | None:
    """The bytes of its storage that a view spans; `None` for all of them."""
    total = tensor.untyped_storage().nbytes()
    size = tensor.element_size()
    start = tensor.storage_offset() * size
    span = sum((n - 1) * s for n, s in zip(tensor.shape, tensor.stride(), strict=True)) + 1 if tensor.numel() else 0
    end = start + span * size
    return None if start == 0 and end >= total else (start, end, total)
