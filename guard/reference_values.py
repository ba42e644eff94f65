"""Inputs and expected values: the official stream, and fresh ones from seeds that nobody else knows."""

import contextlib
import hashlib
import math
import os
import random
import time
from collections.abc import Sequence
from typing import Any

import torch

from guard.bank import Bank, Drawn, tensors_of
from guard.buffers import give_back_spare
from guard.checks.precision import ROUNDING_STEP, moved
from guard.compare import compare
from guard.layout import room
from guard.outputs import WrongOutputs, as_tensors
from guard.rearranged import rearranged
from guard.rescaled import grow, rescale
from guard.verdict import PrecisionPolicy
from tasks.dtypes import torch_dtype
from tasks.inputs import InputGenerator, Policy, load_reference, seed_all
from tasks.task import Task
from tasks.workload import RandomInput

_DEFINITIONS_FAULTS = (
    NameError, AttributeError, ImportError, SyntaxError, TypeError, KeyError, IndexError, RecursionError, WrongOutputs,
)  # fmt: skip
AGAIN = ("near", "swap")
"""Kinds of values that bring the last ones back, nearly."""
_POSITION = tuple[tuple[int, ...], int, int]


class ReferenceFailed(Exception):
    """The reference or its input generator raised; `blame` is `task` or `machine`."""

    def __init__(self, message: str, blame: str) -> None:
        self.blame = blame
        super().__init__(message)


class Values:
    """Draws for one task. The official stream is one random stream over all workloads, as officially."""

    def __init__(self, task: Task, device: torch.device, policy: Policy, bank: Bank, secret: bytes) -> None:
        self.task, self.device, self.bank, self._secret = task, device, bank, secret
        self.names = list(task.definition.outputs)
        self.dtypes = [torch_dtype(spec.dtype) for spec in task.definition.outputs.values()]
        self._code = load_reference(task.definition)
        self.generators = [
            InputGenerator(
                task.definition,
                workload,
                device,
                blob_roots=task.blob_roots,
                policy=policy,
                reference=self._code,
            )
            for workload in task.workloads
        ]
        self.marks = ["synthetic-inputs"] if any(generator.synthetic for generator in self.generators) else []
        self._after: dict[_POSITION, Any] = {}
        self._honest: dict[tuple[int, PrecisionPolicy, str], tuple[float, ...] | None] = {}

    def prove(self, index: int, memory_bytes: int) -> dict[str, Any]:
        """Generator and reference run once on a workload; sizes in bytes, seconds, and room in the buffers."""
        began = time.perf_counter()
        drawn = self.fresh(index, 0, "fresh")  # kept where there is room: calls will ask for it
        self._settle()
        inputs, outputs = tensors_of(drawn.inputs), list(drawn.expected)
        sizes = [_span_bytes(t) for t in inputs]
        declared = [s for s in self._declared_bytes(index) if s is not None]
        out_sizes = [max(t.numel() * t.element_size(), d) for t, d in zip(outputs, declared, strict=True)]
        needed = 2 * sum(sizes) + 3 * sum(out_sizes)
        if needed > memory_bytes:
            raise ReferenceFailed(
                f"workload {self.task.workloads[index].uuid} needs {needed / 2**30:.1f} GiB for inputs, outputs and their "
                f"copies, and {memory_bytes / 2**30:.1f} GiB can be had", "machine"
            )  # fmt: skip
        return {
            "uuid": self.task.workloads[index].uuid, "input_bytes": sum(sizes), "output_bytes": sum(out_sizes),
            "input_room": room(sizes), "output_room": room(out_sizes), "seconds": time.perf_counter() - began,
            "synthetic": bool(self.generators[index].synthetic),
        }  # fmt: skip

    def official(self, workload: int, round_: int, history: tuple[int, ...]) -> Drawn:
        """Round `round_` of the official stream, when `history[k]` rounds were drawn for each workload k before."""
        position = (history, workload, round_)
        kept = self.bank.get(position)
        if kept is not None and position in self._after:
            return kept
        self._rewind(position)
        drawn = self._draw(lambda: self.generators[workload].make())
        self._after[position] = _random_state(self.device)
        self.bank.put(position, drawn)
        return drawn

    def fresh(self, workload: int, index: int, kind: str) -> Drawn:
        """Values number `index` of a workload: new to everybody, the same within this process.

        Kind `varied` varies what the official generator keeps constant, and how its numbers spread; `grown` are
        larger than it makes them, and outside of what a tolerance was measured on. `near` and
        `swap` are number `index` with a few elements exchanged, or two, for those who remember answers by what
        they sampled of a question.
        """
        key = ("fresh", workload, index, kind)
        kept = self.bank.get(key)
        if kept is not None:
            return kept
        drawn = self._near(workload, index, kind) if kind in AGAIN else self._new(workload, index, kind)
        self.bank.put(key, drawn)
        return drawn

    def _new(self, workload: int, index: int, kind: str) -> Drawn:
        generator, seed = self.generators[workload], self._seed(workload, index)
        if kind == "varied":
            return self._varied(workload, seed)
        return self._grown(workload, seed) if kind == "grown" else self._draw(lambda: generator.make(seed))

    def _grown(self, workload: int, seed: int) -> Drawn:
        """Values as they are where the reference has no finite answer to larger ones."""
        make = self.generators[workload].make

        def large() -> list[Any]:
            inputs = make(seed)
            grow(inputs, self._free(workload))
            return inputs

        with contextlib.suppress(ReferenceFailed):
            drawn = self._draw(large)
            if _all_finite(drawn.expected):
                return drawn
        give_back_spare(self.device)  # what a failure left over
        return self._draw(lambda: make(seed))

    def _varied(self, workload: int, seed: int) -> Drawn:
        """Of another spread too, where a relative tolerance allows for it and the reference has a finite answer."""
        vary = self.generators[workload].vary

        def spread() -> list[Any]:
            inputs = vary(seed)
            rescale(inputs, self._free(workload), seed)
            return inputs

        finest = max((torch.finfo(t).eps for t in self.dtypes if t.is_floating_point), default=0.0)
        if self.task.workloads[workload].tolerance.max_rtol >= finest:
            with contextlib.suppress(ReferenceFailed):
                drawn = self._draw(spread)
                if _all_finite(drawn.expected):
                    return drawn
            give_back_spare(self.device)  # what a failure left over
        return self._draw(lambda: vary(seed))

    def _free(self, workload: int) -> list[bool]:
        """Of each input, whether its values are nothing but random numbers."""
        sources = self.task.workloads[workload].inputs
        return [isinstance(sources.get(name), RandomInput) for name in self.task.definition.inputs]

    def before(self, workload: int, index: int, kind: str) -> tuple[torch.Tensor, ...] | None:
        """The expected values of what `near` and `swap` were made from, where they are kept; None for others."""
        kept = self.bank.get(("fresh", workload, index, "fresh")) if kind in AGAIN else None
        return kept.expected if kept is not None else None

    def _near(self, workload: int, index: int, kind: str) -> Drawn:
        """The values themselves where none may be moved, the reference has no finite answer, or there is no room."""
        drawn = self.fresh(workload, index, "fresh")
        free = self._free(workload)
        if not any(free):
            return drawn
        try:
            near = self._draw(lambda: rearranged(drawn.inputs, free, self._seed(workload, index), kind))
        except ReferenceFailed:
            near = drawn
        give_back_spare(self.device)  # what a failure left over
        return near if _all_finite(near.expected) else drawn

    def answer(self, inputs: Sequence[Any]) -> Drawn:
        """What the reference makes of these inputs."""
        return self._draw(lambda: inputs)

    def honest_error(self, workload: int, policy: PrecisionPolicy, kind: str) -> tuple[float, ...] | None:
        """Of each output, the root mean square of its move when the inputs move by one rounding step.

        `kind` is that of the values: those that are `varied` or `grown` have a measure of their own.

        None where no input can be moved, where the reference gives no finite answer then, or where two sets of
        values do not fit beside the call that is being checked.
        """
        kind = kind if kind in ("varied", "grown") else "fresh"
        key = (workload, policy, kind)
        if key not in self._honest:
            try:
                self._honest[key] = self._moves(workload, policy, kind)
            except ReferenceFailed as failure:
                if not isinstance(failure.__cause__, torch.OutOfMemoryError):
                    raise
                self._honest[key] = None
            give_back_spare(self.device)  # what a failure left over
        return self._honest[key]

    def _moves(self, workload: int, policy: PrecisionPolicy, kind: str) -> tuple[float, ...] | None:
        drawn = self.fresh(workload, 0, kind)
        result = self._draw(lambda: moved(drawn.inputs, ROUNDING_STEP[policy], self._seed(workload, -2)))
        moves = tuple(_rms(a, b) for a, b in zip(result.expected, drawn.expected, strict=True))
        has_moved = any(a is not b for a, b in zip(result.inputs, drawn.inputs, strict=True))
        return moves if has_moved and all(map(math.isfinite, moves)) else None

    def repeats(self, workload: int) -> bool:
        """Whether the reference gives the same outputs, within the tolerance, when it is called twice on the same inputs."""
        first = self._new(workload, -1, "fresh")
        again = self._draw(lambda: first.inputs)
        tolerance = self.task.workloads[workload].tolerance
        figures = [compare(a, b, tolerance) for a, b in zip(again.expected, first.expected, strict=True)]
        return all(f.passes or f.has_nan or f.has_inf for f in figures)

    def _seed(self, workload: int, index: int) -> int:
        text = f"{workload}:{index}".encode()
        return int.from_bytes(hashlib.blake2b(text, key=self._secret, digest_size=7).digest(), "big")

    def _draw(self, make: Any) -> Drawn:
        own = os.getpid()
        give_back_spare(
            self.device
        )  # or small values settle in the large blocks of the last ones, and hold them
        try:
            inputs = tuple(make())
            give_back_spare(self.device)  # or an output settles in a corner of what the generator let go
            result = self._code.run(*inputs)
            if os.getpid() != own:
                os._exit(0)  # the reference forked and came back twice: one of the two answers
            expected = as_tensors(result, self.names, self.dtypes, self.device)
        except torch.OutOfMemoryError as error:
            raise ReferenceFailed(
                f"the reference does not fit in the memory of {self.device}: {error}", "machine"
            ) from error
        except MemoryError as error:
            raise ReferenceFailed("the reference does not fit in this machine's memory", "machine") from error
        except Exception as error:
            if hasattr(error, "mend"):
                raise
            blame = "task" if isinstance(error, _DEFINITIONS_FAULTS) else "machine"
            said = f"{type(error).__name__}: {str(error).strip().splitlines()[0][:300] if str(error).strip() else ''}"
            where = f"the reference of {self.task.name} does not run on {self.device.type}"
            mend = "; it needs a GPU" if blame == "machine" and self.device.type == "cpu" else ""
            raise ReferenceFailed(f"{where}: {said}{mend}", blame) from error
        give_back_spare(self.device)
        return Drawn(inputs, tuple(tensor.detach() for tensor in expected))

    def _rewind(self, position: _POSITION) -> None:
        history, workload, round_ = position
        before: _POSITION | None = None
        if round_ > 0:
            before = (history, workload, round_ - 1)
        else:
            earlier = [k for k in range(len(history)) if history[k] > 0]
            if earlier:
                before = (history[: earlier[-1]], earlier[-1], history[earlier[-1]] - 1)
        if before is None:
            seed_all(200)
        else:
            _set_random_state(self._after[before], self.device)

    def _declared_bytes(self, index: int) -> list[int]:
        shapes = self.task.definition.output_shapes(self.task.workloads[index].axes)
        return [
            torch.Size(shape or ()).numel() * dtype.itemsize
            for shape, dtype in zip(shapes.values(), self.dtypes, strict=True)
        ]

    def _settle(self) -> None:
        if self.device.type == "cuda":
            torch.cuda.synchronize()


def _span_bytes(tensor: torch.Tensor) -> int:
    if tensor.numel() == 0:
        return 0
    span = 1 + sum((size - 1) * stride for size, stride in zip(tensor.shape, tensor.stride(), strict=True))
    return span * tensor.element_size()


def _random_state(device: torch.device) -> tuple[Any, ...]:
    cuda = torch.cuda.get_rng_state(device) if device.type == "cuda" else None
    return random.getstate(), torch.get_rng_state(), cuda


def _set_random_state(state: tuple[Any, ...], device: torch.device) -> None:
    python, cpu, cuda = state
    random.setstate(python)
    torch.set_rng_state(cpu)
    if cuda is not None:
        torch.cuda.set_rng_state(cuda, device)


def _all_finite(tensors: Sequence[torch.Tensor]) -> bool:
    return all(bool(torch.isfinite(t.to(torch.float32)).all()) for t in tensors)


def _rms(a: torch.Tensor, b: torch.Tensor) -> float:
    """Root mean square of the difference, where both are finite; 0 for types that do not round."""
    if not a.is_floating_point() or a.numel() == 0:
        return 0.0
    difference = a.to(torch.float32) - b.to(torch.float32)
    finite = torch.isfinite(difference)
    return float(torch.where(finite, difference, 0.0).square().mean().sqrt())
