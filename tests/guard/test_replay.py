"""Timed calls that take less than the work of one honest call."""

import json
import random
import sys
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pytest
import torch

from guard.blame import CandidateFailed
from guard.buffers.memfd import MemfdBuffer
from guard.judge import _nothing_hidden
from guard.layout import contiguous
from guard.measured_pass import measured_pass
from guard.replay import replayed
from guard.timers import TIMERS
from guard.timers.activities import settled_after, without_copies
from guard.timers.base import CallWatch, Records, Timer, Worked
from guard.timers.cupti import Cupti
from guard.verdict import Measurement, ReasonCode
from guard.worker import Worker


@pytest.mark.parametrize(
    ("official_ms", "worked_ms"),
    [
        (0.089, 0.1),
        (0.0018, 0.0045),
        (0.0, 3.0),
    ],
)
def test_an_official_time_below_nine_tenths_of_the_work_is_a_replay(
    official_ms: float, worked_ms: float
) -> None:
    reason = replayed("w", [official_ms - 0.001] * 3, [worked_ms, 2 * worked_ms])
    assert reason is not None
    assert (reason.code, reason.workload) == (ReasonCode.TIMING, "w")
    assert "replay" in reason.message


@pytest.mark.parametrize(
    ("official_ms", "worked_ms", "why"),
    [
        (0.058, 0.0029, "a chain: with R idle its gaps show, and its work is the same"),
        (0.0029, 0.0029, "a chain that is launched behind the flush, so that no gap is left"),
        (0.0895, 0.1, "a clock that fell between the two passes"),
        (0.0012, 0.0022, "a kernel of a microsecond, within the ticks of the clock"),
        (0.130, 0.1, "a cold cache"),
    ],
)
def test_honest_calls_are_no_replay(official_ms: float, worked_ms: float, why: str) -> None:
    assert replayed("w", [official_ms] * 50, [worked_ms] * 12) is None, why


def test_one_slow_call_of_the_guards_own_makes_no_replay() -> None:
    assert replayed("w", [0.1] * 50, [0.1, 5.0, 5.0]) is None


def test_without_records_nothing_is_held_against_anybody() -> None:
    assert replayed("w", [1e-6] * 50, []) is None
    assert replayed("w", [], [1.0]) is None
    assert replayed("w", [1e-6] * 50, [0.0] * 12) is None


def test_work_that_a_call_repeats_counts_once() -> None:
    """A graph captured anew for new pointers: its kernels run eagerly first, twice."""
    kernels = [
        [name, 100 * time + 20 * name, 100 * time + 20 * name + 10] for time in range(3) for name in (0, 1)
    ]
    (worked,) = Cupti.worked({"calls": [kernels]})
    assert worked == Worked(busy_ms=60e-6, once_ms=20e-6)


def test_kernels_beside_each_other_are_busy_once() -> None:
    assert Cupti.worked({"calls": [[[0, 0, 30], [1, 10, 40]], []]}) == [
        Worked(40e-6, 40e-6),
        Worked(0.0, 0.0),
    ]


def test_copies_of_what_was_returned_are_no_work_of_the_call() -> None:
    records = {"calls": [[[0, 0, 5], [1, 6, 9]], [[0, 0, 5]]], "windows": []}
    assert without_copies(records, [1, 0])["calls"] == [[[0, 0, 5]], [[0, 0, 5]]]
    assert without_copies(records, [3, 1])["calls"] == [[], []]


class Device:
    """Stands for CUPTI and the device it watches: kernels run one after the other, and time passes as they do."""

    def __init__(self) -> None:
        self.now, self.ran, self.traced, self.calls = 0, list[Any](), False, list[str]()
        self.ActivityKind = SimpleNamespace(CONCURRENT_KERNEL=1, MEMCPY=2, MEMSET=3)

    def run(self, name: str, took: int) -> None:
        self.now += 1
        if self.traced:
            self.ran.append(SimpleNamespace(kind=1, name=name, start=self.now, end=self.now + took))
        self.now += took

    def get_timestamp(self) -> int:
        self.now += 1
        return self.now

    def activity_enable(self, kind: int) -> None:
        self.traced = True

    def activity_disable(self, kind: int) -> None:
        self.traced = False

    def activity_register_callbacks(
        self, _: Callable[[], Any], completed: Callable[[list[Any]], None]
    ) -> None:
        self.completed = completed

    def activity_flush_all(self, flag: int) -> None:
        self.completed(self.ran)
        self.ran = []

    def finalize(self) -> None:
        self.calls.append("finalize")


@pytest.fixture
def device(monkeypatch: pytest.MonkeyPatch) -> Device:
    device = Device()
    monkeypatch.setitem(sys.modules, "cupti", SimpleNamespace(cupti=device))  # type: ignore[arg-type]
    monkeypatch.setattr(torch.cuda, "synchronize", lambda: None)
    return device


def test_the_official_loop_and_single_calls_are_seen_alike(device: Device) -> None:
    def call(index: int) -> None:
        device.run("a", 10)
        device.now += 5
        device.run("b", 20)

    records = Cupti.record(lambda index: device.run("flush", 40), call, warmup=2, timed=3)
    assert Cupti.times_ms(records) == [36e-6] * 3
    assert Cupti.busy_ms(records) == [30e-6] * 3
    watch = Cupti.watch()
    watch.around(lambda: (call(0), device.run("copy", 7)), copies=1)
    device.run("of somebody else", 50)
    watch.around(lambda: call(1))
    assert Cupti.worked(watch.close()) == [Worked(30e-6, 30e-6)] * 2
    assert device.calls == ["finalize"] * 2


class Noted(CallWatch):
    def __init__(self) -> None:
        self.copies: list[int] = []

    def around(self, call: Callable[[], object], copies: int = 0) -> None:
        call()
        self.copies.append(copies)

    def close(self) -> Records:
        return {"copies": self.copies}


@pytest.mark.parametrize(("dps", "copies"), [(True, 0), (False, 1)])
def test_a_watched_worker_still_fills_the_outputs(
    dps: bool, copies: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    watch = Noted()
    monkeypatch.setattr(TIMERS["wall"], "watch", staticmethod(lambda: watch))
    worker = Worker.__new__(Worker)
    worker.device, worker._dps, worker._calls_watch = torch.device("cpu"), dps, None
    worker._names, worker._dtypes = ["x"], [torch.float32]
    worker._run = (lambda x: x.fill_(3.0)) if dps else (lambda: torch.full((4,), 3.0))
    worker.inputs = worker.outputs = MemfdBuffer.make(1 << 12)
    slot = {"offset": 0, "shape": (4,), "strides": contiguous((4,)), "dtype": "float32"}
    claimed: list[Records] = []
    monkeypatch.setattr(worker, "_claim", lambda records: claimed.append(records) or {})
    for message in (
        {"op": "watch", "timer": "wall"}, {"op": "call", "arguments": [], "outputs": [slot]}, {"op": "watched"},
        {"op": "call", "arguments": [], "outputs": [slot]},
    ):  # fmt: skip
        worker._do(message)
    assert claimed == [{"copies": [copies]}]
    assert worker.outputs.raw(0, 16).view(torch.float32).tolist() == [3.0] * 4


class MadeUp(Timer):
    """Claims that say of each call what the test says."""

    watches = True

    @staticmethod
    def worked(records: Records) -> list[Worked]:
        return [Worked(*w) for w in records["worked"]]


class Pass:
    """The measured pass over one workload of two fresh calls and three others, in front of a worker of no process."""

    def __init__(self, work: Callable[[str], Any]) -> None:
        self.work, self.kind, self.worked = work, "", list[Any]()
        self.trial: Any = SimpleNamespace(
            task=SimpleNamespace(workloads=(SimpleNamespace(uuid="w"),)), progress=lambda _: None, dps=True,
            protocol=SimpleNamespace(precision="tolerance", measured_calls=2), timer="cupti", reference=self,
            session=SimpleNamespace(device="cpu"), limit_s=lambda *_: 1.0, saw_ratio=lambda *_: None,
            measurements=[], worked_ms={}, held=[], after_build=lambda: None,
        )  # fmt: skip
        self.trial.hold_against = self.trial.held.append

    def ask(self, op: str, limit_s: float = 1.0, **details: Any) -> dict[str, Any]:
        if op == "fresh":
            self.kind = details["kind"]
        elif op == "watch":
            self.worked = []
        elif op == "call":
            self.worked.append(self.work(self.kind))
        return {"arguments": [], "outputs": [[]], "finding": None, "matched_ratio": 1.0, "claim_bytes": 1}

    def claims(self, size: int) -> bytes:
        return json.dumps({"worked": self.worked}).encode()

    def thaw(self) -> None: ...

    def children(self) -> list[int]:
        return []

    def measure(self) -> Measurement:
        measured_pass(self.trial, self, 0, random.Random(0))  # type: ignore[arg-type]
        (found,) = self.trial.measurements
        return found


@pytest.fixture
def made_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(TIMERS, "cupti", MadeUp)


def official(span_ms: float) -> Measurement:
    times = (span_ms,) * 5
    return Measurement(workload="w", process=0, timer="cupti", kind="official", times_ms=times)


@pytest.mark.usefixtures("made_up")
def test_the_busy_time_of_fresh_calls_is_kept_with_their_samples() -> None:
    both = Pass(lambda kind: (0.3, 0.2) if kind == "fresh" else (9.0, 9.0))
    assert both.measure().busy_ms == (0.3, 0.3)
    assert both.trial.worked_ms == {"w": [0.2, 0.2]}


@pytest.mark.usefixtures("made_up")
@pytest.mark.parametrize(("span_ms", "replay"), [(0.1, True), (0.19, False), (4.0, False)])
def test_a_process_that_replays_is_held_against_the_candidate(span_ms: float, replay: bool) -> None:
    both = Pass(lambda kind: (0.3, 0.2))
    both.measure()
    both.trial.measurements.append(official(span_ms))
    _nothing_hidden(both.trial, 0)
    assert [reason.code for reason in both.trial.held] == [ReasonCode.TIMING] * replay


@pytest.mark.usefixtures("made_up")
@pytest.mark.parametrize("claim", [(0.1, 0.2), (-1.0, -1.0), (float("nan"), 0.0), ("a", "b"), None])
def test_records_of_watched_calls_that_do_not_add_up_are_the_candidates_fault(claim: Any) -> None:
    with pytest.raises(CandidateFailed) as failed:
        Pass(lambda _: claim).measure()
    assert failed.value.code == ReasonCode.TIMING


def test_a_timer_without_records_is_never_asked_to_watch() -> None:
    both = Pass(lambda _: None)
    both.trial.timer = "wall"
    assert both.measure().busy_ms is None
    assert both.trial.worked_ms == {"w": []}


@pytest.mark.parametrize(
    ("extra", "after"),
    [
        ((), 0),
        ((0, 1), 2),
        ((1, 2, 3, 4, 5, 6, 7), 10),
        ((1, 2, 3, 4, 5, 6), 7),
        ((9,), 10),
        ((0, 2, 4, 6, 8), 10),
        (tuple(range(10)), 0),
    ],
)
def test_calls_are_settled_once_all_that_follow_run_the_same(extra: tuple[int, ...], after: int) -> None:
    """Of ten timed calls, those in `extra` ran one more kernel, as an autotuner does."""
    calls = [[[0, 0, 10]], *([[0, 0, 10], *([[1, 20, 30]] * (n in extra))] for n in range(10))]
    records = {"names": ["a", "b"], "calls": calls, "prepared": []}
    assert settled_after(records) == after
    assert Cupti.unsettled(records) == after
