"""Inputs and expected values: the official stream, and fresh ones from seeds that nobody else knows."""

import contextlib
import hashlib
import math
import os
import time
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import torch

from guard.bank import Bank, Drawn, tensors_of
from guard.buffers import give_back_spare
from guard.checks.precision import ROUNDING_STEP, moved
from guard.compare import compare
from guard.kinds import AGAIN, ANOTHER_SIZE, BEYOND
from guard.layout import room
from guard.looks_drawn import movable
from guard.outputs import as_tensors
from guard.random_state import random_state, set_random_state
from guard.rearranged import rearranged
from guard.reference_failure import ReferenceFailed, failure_of
from guard.rescaled import grow, rescale
from guard.tensor_figures import all_finite, rms, span_bytes
from guard.verdict import PrecisionPolicy
from tasks.dtypes import torch_dtype
from tasks.inputs import InputGenerator, Policy, load_reference, seed_all
from tasks.task import Task
from tasks.workload import RandomInput

_POSITION = tuple[tuple[int, ...], int, int]
_Make = Callable[[int], list[Any]]
_Change = Callable[[Sequence[Any], Sequence[bool]], None]


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
        sizes = [span_bytes(t) for t in inputs]
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
        self._after[position] = random_state(self.device)
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
        if kind == "varied" and self._allows_another_spread(workload):
            return self._changed(workload, seed, generator.vary, partial(rescale, seed=seed))
        if kind == BEYOND:
            return self._changed(workload, seed, generator.make, grow)
        return self._draw(lambda: (generator.vary if kind == "varied" else generator.make)(seed))

    def _changed(self, workload: int, seed: int, make: _Make, change: _Change) -> Drawn:
        """What `make` gives, changed in place; as it was where the reference has no finite answer to the change."""

        def changed() -> list[Any]:
            inputs = make(seed)
            change(inputs, self._free(workload))
            return inputs

        with contextlib.suppress(ReferenceFailed):
            drawn = self._draw(changed)
            if all_finite(drawn.expected):
                return drawn
        give_back_spare(self.device)  # what a failure left over
        return self._draw(lambda: make(seed))

    def _allows_another_spread(self, workload: int) -> bool:
        """Whether the tolerance is relative, and no finer than the outputs are."""
        finest = max((torch.finfo(t).eps for t in self.dtypes if t.is_floating_point), default=0.0)
        return self.task.workloads[workload].tolerance.max_rtol >= finest

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
        free = movable(self.task, workload, drawn.inputs)
        if not any(free):
            return drawn
        try:
            near = self._draw(lambda: rearranged(drawn.inputs, free, self._seed(workload, index), kind))
        except ReferenceFailed:
            near = drawn
        give_back_spare(self.device)  # what a failure left over
        return near if all_finite(near.expected) else drawn

    def answer(self, inputs: Sequence[Any]) -> Drawn:
        """What the reference makes of these inputs."""
        return self._draw(lambda: inputs)

    def honest_error(self, workload: int, policy: PrecisionPolicy, kind: str) -> tuple[float, ...] | None:
        """Of each output, the root mean square of its move when the inputs move by one rounding step.

        `kind` is that of the values: those that are `varied` or `grown` have a measure of their own.

        None where no input can be moved, where the reference gives no finite answer then, or where two sets of
        values do not fit beside the call that is being checked.
        """
        kind = kind if kind in ANOTHER_SIZE else "fresh"
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
        moves = tuple(rms(a, b) for a, b in zip(result.expected, drawn.expected, strict=True))
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
        except Exception as error:
            if hasattr(error, "mend"):
                raise
            raise failure_of(error, self.task.name, self.device) from error
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
            set_random_state(self._after[before], self.device)

    def _declared_bytes(self, index: int) -> list[int]:
        shapes = self.task.definition.output_shapes(self.task.workloads[index].axes)
        return [
            torch.Size(shape or ()).numel() * dtype.itemsize
            for shape, dtype in zip(shapes.values(), self.dtypes, strict=True)
        ]

    def _settle(self) -> None:
        if self.device.type == "cuda":
            torch.cuda.synchronize()
