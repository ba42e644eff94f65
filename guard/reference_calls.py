"""Calls as the reference prepares and judges them: values into the buffers, figures out of them."""

import random
import secrets
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

import torch

from guard.audit.answers import audit_answers
from guard.bank import Drawn
from guard.buffers import Buffer, give_back_spare
from guard.channel import Message
from guard.checks import CallRecord, first_finding, same_bits
from guard.compare import NOTHING_YET, compare_round
from guard.kinds import AGAIN, BEYOND
from guard.layout import Call, Scalar, Slot, contiguous, offsets, room, scalar
from guard.reference_values import Values
from guard.verdict import PrecisionPolicy
from tasks.trace import Status

_SAME_PLACE = 0.35
"""Share of the calls on fresh values whose inputs lie where the workload's last ones lay."""
_INTEGER = {1: torch.uint8, 2: torch.int16, 4: torch.int32, 8: torch.int64}


@dataclass
class _Open:
    """The call in flight."""

    workload: int
    drawn: Drawn
    arguments: tuple[Slot | Scalar, ...]
    outputs: list[list[Slot]]
    """One list of slots a timed call; a single one otherwise."""
    poison: list[torch.Tensor | None] = field(default_factory=list)
    kind: str = "fresh"
    before: tuple[torch.Tensor, ...] | None = None


class Calls:
    """One call at a time: prepare, let the worker run, check."""

    def __init__(self, values: Values, inputs: Buffer, outputs: Buffer, shifts: random.Random) -> None:
        self.values, self.inputs, self.outputs, self._shifts = values, inputs, outputs, shifts
        self._open: _Open | None = None
        self._kept = NOTHING_YET
        self._policy: PrecisionPolicy = "tolerance"
        self._places: dict[int, tuple[list[int], list[int]]] = {}

    def official(self, workload: int, round: int, history: list[int], dps: bool) -> Message:
        """As the official evaluator prepares it: values of its stream, outputs of zeros."""
        if round == 0:
            self._kept = NOTHING_YET
        drawn = self.values.official(workload, round, tuple(history))
        return self._prepare(workload, drawn, dps, copies=1, poisoned=False)

    def fresh(self, workload: int, index: int, kind: str, dps: bool, policy: PrecisionPolicy) -> Message:
        """Values that nobody has seen, outputs full of poison, every tensor at a new address.

        Some calls, and every `near` and `swap` one, put their inputs where the workload's last ones were: an address
        says nothing of what lies there.
        """
        self._policy = policy
        drawn = self.values.fresh(workload, index, kind)
        again = kind in AGAIN or self._shifts.random() < _SAME_PLACE
        placed = self._prepare(workload, drawn, dps, copies=1, poisoned=True, again=again)
        if self._open is not None:
            self._open.kind, self._open.before = kind, self.values.before(workload, index, kind)
        return placed

    def timed(self, workload: int, index: int, dps: bool, policy: PrecisionPolicy) -> Message:
        """One set of values and as many output slots as the buffer holds, 64 at most."""
        self._policy = policy
        drawn = self.values.fresh(workload, index, "fresh")
        one = room([s for s in self._output_bytes(workload, drawn, dps)])
        return self._prepare(
            workload, drawn, dps, copies=max(1, min(64, self.outputs.size // one)), poisoned=True
        )

    def check_official(self) -> Message:
        """The official status of the call just made, and the figures kept over the rounds of its workload."""
        call = self._close()
        outputs = [self.outputs.tensor(slot) for slot in call.outputs[0]]
        status, self._kept = compare_round(outputs, call.drawn.expected, self._tolerance(call), self._kept)
        correctness = self._kept.correctness.model_dump(mode="json")
        return {
            "status": status or Status.PASSED, "correctness": correctness, "matched_ratio": self._kept.matched_ratio
        }  # fmt: skip

    def check_fresh(self) -> Message:
        """What is wrong with the call just made, and the smallest matched ratio over its outputs."""
        return self._check(self._close(), 0)

    def check_timed(self, calls: int) -> Message:
        """The same for the last calls of an uninterrupted run, as many as there were slots for.

        All had the same inputs: what equals a call that was found right, bit for bit, is right as well.
        """
        call, checked = self._close(), 0
        answer = self._check(call, 0)
        first = [self.outputs.tensor(slot) for slot in call.outputs[0]]
        for checked in range(1, min(len(call.outputs), calls)):
            if answer["finding"]:
                break
            others = [self.outputs.tensor(slot) for slot in call.outputs[checked]]
            if not all(same_bits(a, b) for a, b in zip(first, others, strict=True)):
                answer = self._check(call, checked)
        return {**answer, "checked": checked + 1}

    def audit(self, workload: int, index: int) -> Message:
        """What the workload's tolerance says of answers that are wrong or coarse."""
        return audit_answers(self.values, workload, index)

    def repeats(self, workload: int) -> Message:
        """Asked before a candidate is blamed for other values than the reference's."""
        return {"same": self.values.repeats(workload)}

    ANSWERS: ClassVar[dict[str, Callable[..., Message]]] = {
        "official": official, "official-check": check_official, "fresh": fresh, "fresh-check": check_fresh,
        "timed": timed, "timed-check": check_timed, "repeats": repeats, "audit": audit,
    }  # fmt: skip

    def _check(self, call: _Open, slot: int) -> Message:
        record = CallRecord(
            given=call.drawn.inputs,
            seen=[self.inputs.tensor(a) if isinstance(a, Slot) else a.plain() for a in call.arguments],
            outputs=[self.outputs.tensor(s) for s in call.outputs[slot]],
            expected=call.drawn.expected,
            names=self.values.names,
            poison=call.poison,
            tolerance=self._tolerance(call),
            policy=self._policy,
            honest=self.values.honest_error(call.workload, self._policy, call.kind),
            before=call.before,
            is_beyond=call.kind == BEYOND,
        )
        finding = first_finding(record)
        if finding:
            return {"finding": finding.model_dump(mode="json"), "matched_ratio": 0.0}
        ratio = 1.0 if record.is_beyond else min((f.matched_ratio for f in record.figures), default=1.0)
        return {"finding": None, "matched_ratio": ratio}

    def _prepare(
        self, workload: int, drawn: Drawn, dps: bool, copies: int, poisoned: bool, again: bool = False
    ) -> Message:
        arguments = self._place(workload, drawn.inputs, again)
        sizes = self._output_bytes(workload, drawn, dps)
        one = room(sizes)
        slots = [
            self._output_slots(workload, drawn, dps, offsets(sizes, k * one, self._shifts))
            for k in range(copies)
        ]
        poison = [self._fill([s[j] for s in slots], poisoned) for j in range(len(slots[0]))]
        self._open = _Open(workload, drawn, arguments, slots, poison)
        give_back_spare(self.values.device)  # the candidate's turn comes now, and its outputs are as large
        if self.values.device.type == "cuda":
            torch.cuda.synchronize()
        calls = [Call(arguments=arguments, outputs=tuple(s)).model_dump(mode="json") for s in slots]
        return {"arguments": calls[0]["arguments"], "outputs": [c["outputs"] for c in calls]}

    def _place(self, workload: int, values: Sequence[Any], again: bool) -> tuple[Slot | Scalar, ...]:
        tensors = [v for v in values if isinstance(v, torch.Tensor)]
        slots = [_slot(t, 0) for t in tensors]
        sizes = [slot.span * t.element_size() for slot, t in zip(slots, tensors, strict=True)]
        of_sizes, places = self._places.get(workload, ([], []))
        if not again or of_sizes != sizes:
            places = offsets(sizes, 0, self._shifts)
            self._places[workload] = sizes, places
        placed = iter(places)
        found: list[Slot | Scalar] = []
        for value in values:
            if not isinstance(value, torch.Tensor):
                found.append(scalar(value))
                continue
            slot = _slot(value, next(placed))
            flat = value.detach().as_strided((slot.span,), (1,)) if slot.span else value.reshape(-1)
            self.inputs.raw(slot.offset, slot.span * value.element_size()).copy_(flat.view(torch.uint8))
            found.append(slot)
        return tuple(found)

    def _output_slots(self, workload: int, drawn: Drawn, dps: bool, at: list[int]) -> list[Slot]:
        """Declared shapes and types where the outputs are handed over; the reference's own where they are returned."""
        shapes_types = self._output_kinds(workload, drawn, dps)
        return [
            Slot(
                offset=offset, shape=shape, strides=contiguous(shape), dtype=str(dtype).removeprefix("torch.")
            )
            for (shape, dtype), offset in zip(shapes_types, at, strict=True)
        ]

    def _output_kinds(
        self, workload: int, drawn: Drawn, dps: bool
    ) -> list[tuple[tuple[int, ...], torch.dtype]]:
        if not dps:
            return [(tuple(e.shape), e.dtype) for e in drawn.expected]
        declared = self.values.task.definition.output_shapes(self.values.task.workloads[workload].axes)
        return [
            (shape or (), dtype) for shape, dtype in zip(declared.values(), self.values.dtypes, strict=True)
        ]

    def _output_bytes(self, workload: int, drawn: Drawn, dps: bool) -> list[int]:
        return [torch.Size(s).numel() * t.itemsize for s, t in self._output_kinds(workload, drawn, dps)]

    def _fill(self, slots: list[Slot], poisoned: bool) -> torch.Tensor | None:
        """Zeros, or one pattern for all: a NaN with a random payload, and random bits for integers."""
        pattern = _poison(getattr(torch, slots[0].dtype), self.values.device) if poisoned else None
        for slot in slots:
            tensor = self.outputs.tensor(slot)
            if pattern is None:
                self.outputs.raw(slot.offset, slot.span * tensor.element_size()).zero_()
            else:
                tensor.view(pattern.dtype).copy_(pattern[0])
        return pattern

    def _tolerance(self, call: _Open) -> Any:
        return self.values.task.workloads[call.workload].tolerance

    def _close(self) -> _Open:
        if self._open is None:
            raise RuntimeError("no call is open")
        call, self._open = self._open, None
        return call


def _slot(tensor: torch.Tensor, offset: int) -> Slot:
    dtype = str(tensor.dtype).removeprefix("torch.")
    return Slot(offset=offset, shape=tuple(tensor.shape), strides=tuple(tensor.stride()), dtype=dtype)


def _poison(dtype: torch.dtype, device: torch.device) -> torch.Tensor:
    """One element: not-a-number with a payload that cannot be guessed; random bits where the type has no NaN."""
    integer = _INTEGER[dtype.itemsize]
    bits = 8 * dtype.itemsize
    if dtype.is_floating_point and dtype.itemsize > 1:
        mantissa = {torch.float64: 52, torch.float32: 23, torch.float16: 10, torch.bfloat16: 7}[dtype]
        value = (((1 << (bits - 1 - mantissa)) - 1) << mantissa) | (secrets.randbits(mantissa - 1) | 1)
    else:
        value = secrets.randbits(bits - 1) | (1 << (bits - 2))
    return torch.tensor([value], dtype=integer, device=device)
