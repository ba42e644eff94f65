"""Beside the official span of a call, how long the device was busy in it."""

import json
from types import SimpleNamespace
from typing import Any

import pytest

from guard.blame import CandidateFailed
from guard.duel_record import Shard
from guard.figures import publish
from guard.timed_pass import timed_pass
from guard.timers.cupti import Cupti
from guard.timers.wall import Wall
from guard.two_times import busy_of, timing_flags
from guard.verdict import Measurement, ReasonCode
from submissions.samples import Samples, pack, unpack
from tests.guard.duels import header, records


def official(busy_ms: float | None, span_ms: float = 0.1, process: int = 0) -> Measurement:
    busy = None if busy_ms is None else (busy_ms,) * 3
    return Measurement(
        workload="w", process=process, timer="cupti", kind="official", times_ms=(span_ms,) * 3, busy_ms=busy
    )


def own(whole_ms: float, busy_ms: float | None) -> Measurement:
    busy = None if busy_ms is None else (busy_ms,)
    return Measurement(
        workload="w", process=0, timer="wall", kind="measured", times_ms=(whole_ms,), busy_ms=busy
    )


def test_the_busy_time_is_that_of_the_calls_that_decide() -> None:
    found = [own(2.0, 0.5), official(0.08), official(0.06, process=1), official(0.07, process=2)]
    assert busy_of(found, "w") == 0.07
    assert busy_of(found, "another") is None


def test_a_process_without_records_leaves_the_busy_time_unknown() -> None:
    assert busy_of([official(0.08), official(None, process=1)], "w") is None
    assert timing_flags([official(None, span_ms=0.001)], "w") == ()


@pytest.mark.parametrize(
    ("measurements", "flags"),
    [
        ([official(0.095)], ()),
        ([official(0.085)], ("HOST_BOUND",)),
        ([official(0.0033, span_ms=0.0034)], ("LAUNCH_DOMINATED",)),
        ([official(0.0029, span_ms=0.0034)], ("HOST_BOUND", "LAUNCH_DOMINATED")),
        ([official(0.1), own(0.25, 0.1)], ()),
        ([official(0.1), own(0.1, 0.102)], ()),
        ([official(0.1), own(0.25, 0.3)], ("TIMER_DISAGREE",)),
        ([official(0.1), own(0.25, 0.0)], ("TIMER_DISAGREE",)),
        ([official(0.1), own(0.25, None)], ()),
    ],
)
def test_flags_follow_from_raw_times(measurements: list[Measurement], flags: tuple[str, ...]) -> None:
    assert timing_flags(measurements, "w") == flags


def test_samples_from_before_it_was_kept_are_read_and_written_as_they_were() -> None:
    old = {"kind": "official", "process": 0, "timer": "cupti", "times_ms": [0.1, 0.2], "workload": "w"}
    measurement = Measurement.model_validate(old)
    assert measurement.busy_ms is None
    assert json.loads(measurement.model_dump_json()) == old
    both = Samples((measurement, official(0.08)))
    assert unpack(pack(both)) == both


def test_only_activity_records_give_a_busy_time() -> None:
    calls = [[[0, 0, 10], [1, 50, 60]]] * 3
    assert Cupti.busy_ms({"names": ["a", "b"], "calls": calls, "prepared": []}) == [20e-6] * 2
    assert Wall.busy_ms({"spans_ns": [5]}) is None


class Claiming:
    """A worker that claims these records, and a trial around it that asks for one workload."""

    def __init__(self, calls: list[Any]) -> None:
        self.body = json.dumps({"names": ["a"], "calls": calls, "prepared": []}).encode()
        self.trial: Any = SimpleNamespace(
            task=SimpleNamespace(workloads=(SimpleNamespace(uuid="w"),)), progress=lambda _: None, dps=True,
            protocol=SimpleNamespace(precision="tolerance", warmup_calls=10, timed_calls=2), timer="cupti",
            reference=SimpleNamespace(
                ask=lambda op, **_: {"arguments": [], "outputs": [], "finding": None, "matched_ratio": 1.0},
                facts={"workloads": [{"input_bytes": 8}]},
            ),
            flags=set(), statuses={}, measurements=[], limit_s=lambda *_, **__: 1.0, saw_ratio=lambda *_: None,
        )  # fmt: skip

    def ask(self, op: str, limit_s: float, **details: Any) -> dict[str, Any]:
        return {"claim_bytes": len(self.body)}

    def claims(self, size: int) -> bytes:
        return self.body

    def timed(self) -> Measurement:
        timed_pass(self.trial, self, 0)  # type: ignore[arg-type]
        (found,) = self.trial.measurements
        return found


def test_the_timed_pass_keeps_both_times_of_every_call() -> None:
    found = Claiming([[[0, 0, 10]], [[0, 20, 29]], [[0, 40, 52]]]).timed()
    assert found.times_ms == found.busy_ms == (9e-6, 12e-6)


def test_claims_that_are_busy_for_no_number_of_nanoseconds_give_no_times() -> None:
    with pytest.raises(CandidateFailed) as failed:
        Claiming([[[0, 0, 10]], [[0, 20, float("nan")]], [[0, 40, 52]]]).timed()
    assert failed.value.code == ReasonCode.TIMING


def test_a_comparison_shows_both_times_and_flags_of_both_arms() -> None:
    lines = tuple(
        record.model_copy(update={"measurements": tuple(_half_busy(m) for m in record.measurements)})
        for record in records()
    )
    published = publish([Shard(header=header(), processes=lines)])
    first = published.latencies[0]
    assert first.baseline_busy_ms == pytest.approx(first.baseline_ms / 2, rel=1e-9)
    assert first.baseline_flags == first.candidate_flags == ("HOST_BOUND",)
    assert sum("device busy for" in line and "HOST_BOUND" in line for line in published.lines()) == 4


def test_a_comparison_without_records_says_what_it_always_said() -> None:
    published = publish([Shard(header=header(), processes=records())])
    assert set(published.latencies[0].model_dump()) == {"workload", "baseline_ms", "candidate_ms"}
    assert not any("busy" in line for line in published.lines())


def _half_busy(measurement: Measurement) -> Measurement:
    return measurement.model_copy(update={"busy_ms": tuple(t / 2 for t in measurement.times_ms)})
