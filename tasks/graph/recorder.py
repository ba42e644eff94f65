"""Watches a reference run on tensors without memory: what it calls, at which sizes, with which indices."""

from __future__ import annotations

import math
import time
from typing import Any

import torch
from torch.utils._python_dispatch import TorchDispatchMode

from tasks.graph.by_index import rows_read
from tasks.graph.by_value import DATA_DEPENDENT, choose, invented
from tasks.graph.kinds import is_view, name_of
from tasks.graph.shapes import Shapes, mutated_argument, signature
from tasks.graph.steps import Step, Work, collect
from tasks.graph.trace import Trace
from tasks.graph.values import Values
from tasks.graph.work import work_of

_VIEWS = {count: Work("view", reads=(0,) * count) for count in range(4)}
_CALLS_A_LOOK = 64
"""Between two looks at the clock, which takes as long as several calls."""
HOST_LIMIT = 2**22
"""Elements of a tensor that the reference makes on the host."""
_HOST = torch.device("cpu")


class OutOfTime(BaseException):
    """Not an `Exception`, so that a reference that catches those cannot swallow it."""


class Recorder(TorchDispatchMode):
    """Notes every call that touches a tensor without memory; calls among the host's own tensors just run."""

    def __init__(self, trace: Trace, values: Values, deadline: float) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self.trace, self.values, self.deadline = trace, values, deadline
        self.asks = True
        """Whether to begin again for values that are missing, rather than to assume them."""
        self.folds = False
        """Whether long loops may be run in part."""
        self.overwritten: list[torch.Tensor] = []
        """Tensors of known values that were written in place, in order."""
        self.paused = False
        """While a call is made as a whole, what it is made of goes unnoted."""
        self._calls = 0
        self._shapes = Shapes()
        self._work: dict[Any, Work] = {}
        self._lifted: dict[int, tuple[torch.Tensor, int, torch.Tensor]] = {}
        self._about: dict[Any, tuple[str, bool]] = {}

    @classmethod
    def _should_skip_dynamo(cls) -> bool:
        """Nothing here is ever compiled; saying so would import torch._dynamo, which takes seconds."""
        return False

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        if self.paused:
            return func(*args, **(kwargs or {}))
        self._calls += 1
        if self._calls % _CALLS_A_LOOK == 0 and time.thread_time() > self.deadline:
            raise OutOfTime
        kwargs = kwargs or {}
        operands = collect(kwargs.values(), collect(args, [])) if kwargs else collect(args, [])
        if not operands and _is_large(args):
            kwargs = {**kwargs, "device": torch.device("meta")}  # the host's memory is not for this either
        ours = [tensor.is_meta for tensor in operands]
        if not any(ours) and not _is_meta(kwargs.get("device")):
            return func(*args, **kwargs)
        if not all(ours):
            args, kwargs = self._lift(args), self._lift(kwargs)
            operands = collect(kwargs.values(), collect(args, []))
        name, _ = self._named(func)
        special = DATA_DEPENDENT.get(name)
        if special is not None:
            return special(self, func, args, kwargs, operands)
        if name == "_to_copy" and kwargs.get("device") == _HOST:
            return self._to_host(args[0], kwargs)
        return self.call(func, args, kwargs, operands)

    def call(self, func: Any, args: Any, kwargs: Any, operands: list[torch.Tensor]) -> Any:
        """Make a call whose output shapes follow from its inputs', and note it."""
        name, view = self._named(func)
        if view:
            out = func(*args, **kwargs)
            work = _VIEWS.get(len(operands)) or Work("view", reads=(0,) * len(operands))
            step = self.trace.note(func, name, args, kwargs, operands, work)
            self.trace.returned(step, out, view=True)
            return out
        key = signature(func, args, kwargs)
        mutated = mutated_argument(func, args, kwargs)
        out = self._shapes(func, args, kwargs, key, mutated)
        if key not in self._work:
            self._work[key] = work_of(func, args, kwargs, out, mutated)
        work = self._work[key]
        step = self.note(func, args, kwargs, operands, out, mutated, work)
        self._follow(step, args, kwargs, operands, out, mutated)
        return out

    def note(
        self, func: Any, args: Any, kwargs: Any, operands: list[torch.Tensor], out: Any,
        mutated: torch.Tensor | None, work: Work,
    ) -> Step:  # fmt: skip
        name = self._named(func)[0]
        step = self.trace.note(func, name, args, kwargs, operands, work)
        if work.kind == "gather":
            step.rows, step.touched = rows_read(self, name, work, args, operands, step.operands)
        if mutated is not None:
            self.trace.overwrote(step, mutated)
        else:
            self.trace.returned(step, out, view=False)
        return step

    def lift(self, real: torch.Tensor) -> torch.Tensor:
        """A tensor without memory for one of the host's; the same one as long as it is not written to."""
        found = self._lifted.get(id(real))
        if found is not None and found[0] is real and found[1] == real._version:
            return found[2]
        made = torch.empty_strided(real.size(), real.stride(), dtype=real.dtype, device="meta")
        self.values.put(made, real)
        self.trace.add_constant(made, real)
        self._lifted[id(real)] = (real, real._version, made)
        return made

    def _named(self, func: Any) -> tuple[str, bool]:
        """The name of an operator, and whether it is a view."""
        found = self._about.get(func)
        if found is None:
            name = name_of(func)
            found = self._about[func] = (name, is_view(func, name))
        return found

    def _lift(self, value: Any) -> Any:
        """Host tensors among others become tensors without memory whose values are known."""
        if isinstance(value, torch.Tensor):
            return value if value.is_meta else self.lift(value)
        if isinstance(value, dict):
            return {key: self._lift(item) for key, item in value.items()}
        if isinstance(value, list | tuple):
            return [self._lift(item) for item in value]
        return value

    def _to_host(self, tensor: torch.Tensor, kwargs: Any) -> torch.Tensor:
        self.trace.looked_at_values += 1
        real = self.values.get(tensor)
        if real is None:
            real = invented(self, tensor)
        return real.to(kwargs.get("dtype") or tensor.dtype, copy=True)

    def _follow(
        self, step: Step, args: Any, kwargs: Any, operands: list[torch.Tensor], out: Any,
        mutated: torch.Tensor | None,
    ) -> None:  # fmt: skip
        """Keep values going where they are known, and forget them where they are overwritten."""
        values, work = self.values, step.work
        results = [mutated] if mutated is not None else collect((out,), [])
        known = all([values.known(tensor) for tensor in operands])
        if not known or not all([values.allows(tensor, step.name) for tensor in results]):
            if mutated is not None:
                values.forget(mutated)
            elif step.name in values.wanted:
                choose(self, step.function, args, kwargs, results)
            return
        real = values.follow(step.function, args, kwargs, sum(work.flops.values()) + work.vector // 4)
        if mutated is not None:
            self.overwritten.append(mutated)
            if real is None:
                values.forget(mutated)
        elif real is not None:
            for tensor, value in zip(results, collect((real,), []), strict=True):
                values.put(tensor, value)


def _is_large(args: Any) -> bool:
    """Whether a call that makes a tensor of given sizes makes one that the host should not hold."""
    sizes = args[0] if args else None
    return isinstance(sizes, list | tuple) and math.prod(s for s in sizes if isinstance(s, int)) > HOST_LIMIT


def _is_meta(device: Any) -> bool:
    return device is not None and torch.device(device).type == "meta"
