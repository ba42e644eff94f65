"""What is left out of a process's times before they are summarised, and that the raw ones stay."""

import numpy as np
import pytest

from guard.comparison import FIXED, Outcome
from guard.duel_record import Figure, ProcessRecord, Shard
from guard.figures import publish
from guard.statistics.experiment import compare_measurements
from guard.statistics.location import mid_distribution_median
from guard.statistics.steady import steady_part
from guard.terms import terms_for
from guard.two_times import timing_flags
from guard.verdict import Measurement
from tests.guard.duels import few, header, records

RNG = np.random.default_rng(5)


def times(before: float = 1.3, calls: int = 20, n: int = 50) -> np.ndarray:  # type: ignore[type-arg]
    """Slow by the factor `before` for some calls, then 1; 0.3 % of noise."""
    return np.where(np.arange(n) < calls, before, 1.0) * (1 + 0.003 * RNG.normal(size=n))


def test_what_came_before_a_step_does_not_move_the_location() -> None:
    found = steady_part(times())
    assert found.dropped == 20 and found.steady
    assert float(mid_distribution_median(found.times)) == pytest.approx(1.0, abs=0.003)


def test_a_settled_process_loses_little() -> None:
    dropped = [steady_part(times(before=1.0)).dropped for _ in range(100)]
    assert np.mean(dropped) < 8


def test_a_ramp_is_biased_less_and_said_to_be_no_steady_process() -> None:
    ramp = (1 + 0.2 * np.exp(-np.arange(50) / 10)) * (1 + 0.001 * RNG.normal(size=50))
    found = steady_part(ramp)
    assert found.dropped == 20 and not found.steady
    assert float(mid_distribution_median(found.times)) - 1 < 0.6 * (float(np.median(ramp)) - 1)


def test_a_drift_to_the_end_is_not_steady_and_a_tiny_one_is() -> None:
    for share, steady in ((0.03, False), (0.002, True)):
        assert (
            steady_part((1 - share * np.arange(50) / 50) * (1 + 1e-5 * RNG.normal(size=50))).steady is steady
        )


def test_few_times_and_equal_ones_are_left_alone() -> None:
    assert steady_part(times(n=29)).dropped == 0
    assert steady_part(np.ones(50))[1:] == (0, True)


@pytest.mark.parametrize(("unsettled", "dropped", "steady"), [(3, 3, True), (25, 25, True), (26, 25, False)])
def test_calls_that_still_chose_their_kernels_are_left_out(
    unsettled: int, dropped: int, steady: bool
) -> None:
    assert steady_part(np.ones(50), unsettled)[1:] == (dropped, steady)


def slow_start(record: ProcessRecord) -> ProcessRecord:
    """The candidate's first 15 calls take twice as long and the machine is as fast as before after that."""
    if record.arm == "A":
        return record
    return record.model_copy(update={"measurements": tuple(_late(m) for m in record.measurements)})


def _late(measurement: Measurement) -> Measurement:
    late = tuple(t * (2.0 if n < 15 else 1.0) for n, t in enumerate(measurement.times_ms))
    return measurement.model_copy(update={"times_ms": late})


def figures(cut: bool) -> tuple[Figure, ...]:
    terms = few().model_copy(update={"cut_warm_up": cut})
    lines = tuple(slow_start(record) for record in records())
    return publish([Shard(header=header(terms=terms), processes=lines)]).figures


def test_a_duel_decides_by_what_is_steady_and_publishes_the_official_median_of_all() -> None:
    for whole, part in zip(figures(cut=False), figures(cut=True), strict=True):
        assert whole.official_ms == part.official_ms and whole.samples == part.samples == 50
        if whole.arm == "B":
            assert part.dropped >= 15 and part.location_ms < whole.location_ms
            assert part.high_ms < 1.5 * part.low_ms


def test_files_from_before_the_cut_keep_every_figure() -> None:
    old = figures(cut=False)
    assert all("dropped" not in f.model_dump() and "NOT_STEADY" not in f.flags for f in old)
    terms = few().model_copy(update={"cut_warm_up": False})
    assert "cut_warm_up" not in terms.model_dump()


def test_all_terms_cut_from_now_on_and_are_not_pooled_with_those_that_did_not() -> None:
    for name in ("screen", "search", "final", "gate"):
        terms = terms_for(name, "cuda")  # type: ignore[arg-type]
        assert terms.cut_warm_up
        assert terms.digest != terms.model_copy(update={"cut_warm_up": False}).digest


def test_a_slow_start_makes_no_candidate_slower() -> None:
    """Half of its calls still choose kernels: without the cut it is called slower."""
    rng = np.random.default_rng(1)

    def arm(first: int, warming: int) -> list[Measurement]:
        return [
            Measurement(
                workload="w", process=p, timer="cupti", kind="official", unsettled=warming,
                times_ms=tuple((np.where(np.arange(50) < warming, 1.5, 1.0) * (1 + 0.002 * rng.normal(size=50))).tolist()),
            )
            for p in range(first, first + 10)
        ]  # fmt: skip

    baseline, candidate = arm(0, 0), arm(10, 25)
    naive = compare_measurements(baseline, candidate, FIXED)
    assert naive.workloads[0].outcome is Outcome.SLOWER
    cut = compare_measurements(baseline, candidate, FIXED, cut_warm_up=True)
    assert cut.workloads[0].outcome is Outcome.EQUIVALENT
    assert len(candidate[0].times_ms) == 50


def test_a_verdict_says_when_most_processes_were_not_steady() -> None:
    def official(process: int, unsettled: int) -> Measurement:
        ones = (1.0,) * 50
        return Measurement(
            workload="w", process=process, timer="cupti", kind="official", times_ms=ones, busy_ms=ones,
            unsettled=unsettled,
        )  # fmt: skip

    restless = [official(0, 50), official(1, 50)]
    assert timing_flags([*restless, official(2, 0)], "w") == ("NOT_STEADY",)
    assert timing_flags([*restless, official(2, 0), official(3, 0)], "w") == ()
