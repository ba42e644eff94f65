import statistics
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from guard.verdict import Measurement, Verdict, latency_of
from submissions.agreement import disagreements
from submissions.samples import Samples
from tests.submissions.builders import a_candidate, a_task, a_verdict


def fields(verdict: Verdict) -> list[str]:
    samples = Samples(verdict.measurements)
    return [d.field for d in disagreements(verdict, samples, a_task().workloads)]


def with_first(verdict: Verdict, **changes: Any) -> Verdict:
    first = verdict.workloads[0].model_copy(update=changes)
    return verdict.model_copy(update={"workloads": (first, *verdict.workloads[1:])})


@pytest.fixture(params=["cupti", "wall"])
def verdict(request: pytest.FixtureRequest) -> Verdict:
    return a_verdict(a_task(), a_candidate(a_task()), timer=request.param)


def test_a_verdict_agrees_with_the_samples_it_was_made_from(verdict: Verdict) -> None:
    assert fields(verdict) == []


def test_a_latency_off_by_one_bit_does_not_agree(verdict: Verdict) -> None:
    exact = verdict.workloads[0].latency_ms
    assert exact is not None
    nudged = exact * (1 + 2**-52)
    assert nudged != exact
    assert fields(with_first(verdict, latency_ms=nudged)) == ["verdict.workloads[0].latency_ms"]


@pytest.mark.parametrize("claim", [{"busy_ms": 0.05}, {"flags": ("HOST_BOUND",)}])
def test_a_busy_time_or_a_flag_that_no_record_bears_out_does_not_agree(
    verdict: Verdict, claim: dict[str, Any]
) -> None:
    (name,) = claim
    assert fields(with_first(verdict, **claim)) == [f"verdict.workloads[0].{name}"]


def test_a_latency_by_no_timer_does_not_agree(verdict: Verdict) -> None:
    assert fields(with_first(verdict, timer=None))


def test_official_times_that_the_verdict_keeps_quiet_about_are_named() -> None:
    verdict = a_verdict(a_task(), a_candidate(a_task()))
    assert fields(with_first(verdict, timer=None, latency_ms=None))


def test_a_gpu_workload_that_was_never_timed_has_wall_times_and_no_latency() -> None:
    verdict = with_first(a_verdict(a_task(), a_candidate(a_task())), timer=None, latency_ms=None)
    kept = [m for m in verdict.measurements if m.workload != "w1" or m.kind == "measured"]
    assert fields(verdict.model_copy(update={"measurements": tuple(kept)})) == []


@given(st.lists(st.lists(st.floats(0, 1e6), min_size=1, max_size=5), min_size=1, max_size=5))
def test_the_latency_is_the_median_of_the_processes_own_official_medians(times: list[list[float]]) -> None:
    own = [
        Measurement(workload="w", process=p, timer="cupti", kind="official", times_ms=tuple(some))
        for p, some in enumerate(times)
    ]
    others = [
        own[0].model_copy(update={"kind": "measured", "times_ms": (0.5,) * 99}),
        own[0].model_copy(update={"workload": "v", "times_ms": (0.0,) * 99}),
    ]
    expected = statistics.median([statistics.median(some) for some in times])
    assert latency_of([*others, *own], "w") == expected
    assert latency_of(others, "w") == 0.5
    assert latency_of(own, "v") is None
