"""The record of one run: names for values, their versions, and the steps in order."""

from __future__ import annotations

import sys
from typing import Any

import torch

from tasks.graph.model import Tensor
from tasks.graph.steps import Geometry, Made, Place, Ref, Region, Step, Work, dtype_name, geometry

MOST_STEPS = 200_000
"""A record longer than this is given up: nothing that follows could use it."""


class TooLong(Exception):
    """The reference does more than can be recorded."""


class Trace:
    """Steps as they are noted. Tensors are told apart by storage and geometry, so any view finds its name."""

    def __init__(self) -> None:
        self.file = ""
        """What the frames of the reference call their source."""
        self.steps: list[Step] = []
        self.inputs: list[Tensor] = []
        self.constants: dict[str, torch.Tensor] = {}
        self.notes: dict[str, None] = {}
        self.looked_at_values = 0
        """How often the reference asked for values."""
        self._making: dict[str, Step] = {}
        self._prefix = "made_"
        self._places: dict[int, Place] = {}
        self._regions: dict[Any, tuple[Region | None, int]] = {}

    def begin_run(self, inputs: dict[str, torch.Tensor]) -> None:
        """What was noted so far made the inputs: it is kept aside, and names start anew."""
        origins = {name: self._operand(tensor) for name, tensor in inputs.items()}
        self._making = {made.name: step for step in self.steps for made in step.outputs}
        for name, origin in origins.items():
            if origin[1] in self._making:
                self._making[name] = self._making[origin[1]]
        self.steps, self.constants, self._places, self._prefix = [], {}, {}, ""
        for name, tensor in inputs.items():
            self._add_input(name, tensor)

    def ancestors(self, tensor: torch.Tensor) -> set[str]:
        """The steps and inputs that its values come from."""
        makers = {**self._making, **{made.name: step for step in self.steps for made in step.outputs}}
        left, found = list(self._operand(tensor)[:2]), set()
        while left:
            name = left.pop()
            step = makers.get(name)
            if name in found or (step is not None and step.name in found):
                continue
            found.add(name if step is None else step.name)
            if step is not None:
                found.add(name)
                left += [*step.operands, *step.roots, *([step.mutates] if step.mutates else [])]
                left += [made.root for made in step.outputs if made.root != made.name]
        return found

    def _add_input(self, name: str, tensor: torch.Tensor) -> None:
        described = Tensor(name=name, shape=tuple(tensor.shape), dtype=dtype_name(tensor.dtype))
        self.inputs.append(described)
        self._begin(name, tensor, geometry(tensor))

    def add_constant(self, tensor: torch.Tensor, real: torch.Tensor) -> Place:
        """A tensor that the host made and that meets others here."""
        name = f"{self._prefix}constant_{len(self.steps)}"
        self.constants[name] = real
        work = Work(kind="make", written=tensor.numel() * tensor.element_size())
        made = Made(name, name, tensor.size(), tensor.dtype)
        self.steps.append(
            Step(name, len(self.steps), "constant", (), {}, (), (), (), (), work, outputs=(made,))
        )
        return self._begin(name, tensor, geometry(tensor))

    def name_of(self, tensor: torch.Tensor) -> str:
        """The value's name; a tensor never seen before (made while nothing was noted) becomes a constant."""
        return self._operand(tensor)[0]

    def root_of(self, tensor: torch.Tensor) -> str:
        """What is in its storage now: the value as it was made, or as it was last written."""
        return self._operand(tensor)[1]

    def note(
        self, function: Any, base: str, args: Any, kwargs: Any, operands: list[torch.Tensor], work: Work
    ) -> Step:
        """Append a step; what it returned is told by `returned` or `overwrote`."""
        if len(self.steps) >= MOST_STEPS:
            raise TooLong(f"it makes more than {MOST_STEPS} calls")
        found = [self._operand(tensor) for tensor in operands]  # first: a constant is a step of its own
        names = [one[0] for one in found]
        left = iter(names)
        step = Step(
            f"{self._prefix}{base}_{len(self.steps)}", len(self.steps), function, _refs(args, left),
            _refs(kwargs, left), tuple(names), tuple([one[1] for one in found]), tuple([one[1] for one in found if one[2]]),
            tuple([one[3] for one in found]), work, self._line(),
        )  # fmt: skip
        step.leading = tuple([one[4] for one in found])
        step.root_rows = tuple([one[5] for one in found])
        step.read_elements = max([tensor.numel() for tensor in operands], default=0)
        self.steps.append(step)
        return step

    def returned(self, step: Step, out: Any, view: bool) -> None:
        """Name the tensors among what the call returned."""
        if isinstance(out, torch.Tensor):
            step.outputs = (self._made(step, step.name, out, view),)
        elif isinstance(out, tuple | list):
            step.places = tuple([i for i, t in enumerate(out) if isinstance(t, torch.Tensor)])
            step.outputs = tuple(
                [
                    self._made(step, f"{step.name}_out{i}", out[place], view)
                    for i, place in enumerate(step.places)
                ]
            )

    def overwrote(self, step: Step, mutated: torch.Tensor) -> None:
        """The storage of `mutated` has a new value from here on."""
        place = self._places[mutated.untyped_storage()._cdata]
        step.mutates = place.version
        step.outputs = (Made(step.name, step.name, mutated.size(), mutated.dtype),)
        place.version = step.name
        place.names[geometry(mutated)] = (step.name, step.name)

    def _made(self, step: Step, name: str, tensor: torch.Tensor, view: bool) -> Made:
        place = self._places.get(tensor.untyped_storage()._cdata)
        if place is None:
            place = self._begin(name, tensor, geometry(tensor))
        else:
            if not view and place.version not in step.roots:
                place.version = name
            place.names[geometry(tensor)] = (name, place.version)
        return Made(name, place.version, tensor.size(), tensor.dtype)

    def _operand(self, tensor: torch.Tensor) -> tuple[str, str, bool, Region | None, int, int]:
        """Its name, what is in its storage now, whether that was written since, which part, `leading`, `root_rows`."""
        place = self._places.get(tensor.untyped_storage()._cdata)
        if place is None:
            place = self.add_constant(tensor, tensor)
        key = geometry(tensor)
        name, version = place.names.get(key) or (place.root, place.root)
        return name, place.version, version != place.version, *self._region(key, place.bytes), place.rows

    def _region(self, key: Geometry, total: int) -> tuple[Region | None, int]:
        found = self._regions.get((key, total))
        if found is None:
            found = self._regions[key, total] = (_region(key, total), _leading(key, total))
        return found

    def _begin(self, name: str, tensor: torch.Tensor, key: Geometry) -> Place:
        storage = tensor.untyped_storage()
        place = Place(
            name,
            name,
            storage._weak_ref(),
            storage.nbytes(),
            _leading(key, storage.nbytes()),
            {key: (name, name)},
        )
        self._places[storage._cdata] = place
        return place

    def _line(self) -> int | None:
        """Of the reference's source; the innermost of its frames."""
        frame: Any = sys._getframe(3)
        while frame is not None:
            if frame.f_code.co_filename == self.file:
                return int(frame.f_lineno)
            frame = frame.f_back
        return None


def _refs(value: Any, names: Any) -> Any:
    """`value` with each tensor replaced by the next of `names`."""
    if isinstance(value, torch.Tensor):
        return Ref(next(names))
    if isinstance(value, dict):
        return {key: _refs(item, names) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return tuple([_refs(item, names) for item in value])
    return value


def _region(key: Geometry, total: int) -> Region | None:
    """The bytes of its storage that a view spans; `None` for all of them."""
    offset, sizes, strides, dtype = key
    if 0 in sizes:
        return offset * dtype.itemsize, offset * dtype.itemsize, total
    span = sum([(size - 1) * stride for size, stride in zip(sizes, strides, strict=True)]) + 1
    start, end = offset * dtype.itemsize, (offset + span) * dtype.itemsize
    return None if start == 0 and end >= total else (start, end, total)


def _leading(key: Geometry, total: int) -> int:
    """The length of the first axis, where a step along it is the longest and the whole storage is seen."""
    offset, sizes, strides, dtype = key
    whole = bool(sizes) and offset == 0 and sizes[0] * strides[0] * dtype.itemsize == total
    return int(sizes[0]) if whole else 0
