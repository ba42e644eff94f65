"""Watches a reference run on tensors without memory: what it calls, at which sizes, with which indices."""

from __future__ import annotations

import time
from typing import Any

import torch
from torch.utils._python_dispatch import TorchDispatchMode

from tasks.graph.by_index import rows_read
from tasks.graph.data_dependent import DATA_DEPENDENT, NeedsValues, invented
from tasks.graph.kinds import ALIASES, is_view, name_of
from tasks.graph.shapes import Shapes, mutated_argument, signature
from tasks.graph.steps import Work, tensors_in
from tasks.graph.trace import Trace
from tasks.graph.values import Values
from tasks.graph.work import work_of

HOST_LIMIT = 2**24
"""Elements that the host may make of its own; more become tensors without memory too."""


class OutOfTime(BaseException):
    """Not an `Exception`, so that a reference that catches those cannot swallow it."""


class Recorder(TorchDispatchMode):
    """Notes every call that touches a tensor without memory; calls among the host's own tensors just run."""

    def __init__(self, trace: Trace, values: Values, deadline: float) -> None:
        super().__init__()
        self.trace, self.values, self.deadline = trace, values, deadline
        self.shapes = Shapes()
        self._work: dict[Any, Work] = {}
        self._lifted: dict[int, tuple[torch.Tensor, int, torch.Tensor]] = {}

    @classmethod
    def _should_skip_dynamo(cls) -> bool:
        """Nothing here is ever compiled; saying so would import torch._dynamo, which takes seconds."""
        return False

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        if time.monotonic() > self.deadline:
            raise OutOfTime
        kwargs = kwargs or {}
        operands = list(tensors_in((args, kwargs)))
        if not self._concerns_us(operands, kwargs):
            return func(*args, **kwargs)
        if any(not tensor.is_meta for tensor in operands):
            args, kwargs = self._lift(func, args), self._lift(func, kwargs)
            operands = list(tensors_in((args, kwargs)))
        name = name_of(func)
        if name in DATA_DEPENDENT:
            return DATA_DEPENDENT[name](self, func, args, kwargs, operands)
        if name in ("_to_copy", "copy_") and self._leaves(name, args, kwargs):
            return self._to_host(args, kwargs)
        return self.call(func, args, kwargs, operands)

    def call(self, func: Any, args: Any, kwargs: Any, operands: list[torch.Tensor]) -> Any:
        """Make a call whose output shapes follow from its inputs', and note it."""
        name = name_of(func)
        if is_view(func, name):
            out = func(*args, **kwargs)
            self.note(func, args, kwargs, operands, out, None, Work("view", reads=(0,) * len(operands)))
            return out
        key = signature(func, args, kwargs)
        mutated = mutated_argument(func, args, kwargs)
        out = self.shapes(func, args, kwargs, key, mutated)
        work = self._work.get(key)
        if work is None:
            work = self._work[key] = work_of(func, args, kwargs, out, mutated)
        rows, touched = rows_read(self, name, work, args, operands)
        self.note(func, args, kwargs, operands, out, mutated, work, rows, touched)
        self._follow(func, args, kwargs, out, mutated, work)
        return out

    def note(
        self, func: Any, args: Any, kwargs: Any, operands: list[torch.Tensor], out: Any,
        mutated: torch.Tensor | None, work: Work, rows: Any = None, touched: dict[str, int] | None = None,
    ) -> None:  # fmt: skip
        if self.trace.on:
            self.trace.note(func, args, kwargs, operands, out, mutated, work, rows, touched)

    def _concerns_us(self, operands: list[torch.Tensor], kwargs: dict[str, Any]) -> bool:
        if any(tensor.is_meta for tensor in operands):
            return True
        device = kwargs.get("device")
        return device is not None and torch.device(device).type == "meta"

    def _lift(self, func: Any, value: Any) -> Any:
        """Host tensors among others become tensors without memory whose values are known."""
        if isinstance(value, torch.Tensor):
            return value if value.is_meta else self.lift(value)
        if isinstance(value, dict):
            return {key: self._lift(func, item) for key, item in value.items()}
        if isinstance(value, list | tuple):
            return [self._lift(func, item) for item in value]
        return value

    def lift(self, real: torch.Tensor) -> torch.Tensor:
        """A tensor without memory for one of the host's; the same one as long as it is not written to."""
        found = self._lifted.get(id(real))
        if found is not None and found[0] is real and found[1] == real._version:
            return found[2]
        made = torch.empty_strided(real.size(), real.stride(), dtype=real.dtype, device="meta")
        if real.numel() * real.element_size() <= HOST_LIMIT * 8:
            self.values.put(made, real)
        if self.trace.on:
            self.trace.add_constant(made, real)
        self._lifted[id(real)] = (real, real._version, made)
        return made

    def _leaves(self, name: str, args: Any, kwargs: Any) -> bool:
        if name == "copy_":
            return False
        device = kwargs.get("device")
        return device is not None and torch.device(device).type == "cpu"

    def _to_host(self, args: Any, kwargs: Any) -> torch.Tensor:
        tensor = args[0]
        real = self.values.get(tensor)
        if real is None:
            real = invented(self, tensor)
        return real.to(kwargs.get("dtype") or tensor.dtype, copy=True)

    def _follow(
        self, func: Any, args: Any, kwargs: Any, out: Any, mutated: torch.Tensor | None, work: Work
    ) -> None:
        """Keep values going where they are known, and forget them where they are overwritten."""
        results = [mutated] if mutated is not None else list(tensors_in(out))
        wanted = all(self.values.allows(t.numel() * t.element_size(), t.dtype) for t in results)
        done = False
        if wanted and results:
            amount = sum(work.flops.values()) + work.vector // 4
            done, real = self.values.follow(func, args, kwargs, amount)
        if mutated is not None:
            if not done:
                self.values.forget(mutated)
            return
        if done:
            for tensor, value in zip(results, tensors_in(real), strict=True):
                self.values.put(tensor, value)


__all__ = ["ALIASES", "NeedsValues", "OutOfTime", "Recorder"]
