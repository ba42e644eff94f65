"""Both arms at the same clock, where processes ran at clocks that differ."""

from collections.abc import Callable

import numpy as np
import pytest

from guard.comparison import Outcome
from guard.duel_record import Conditions, ProcessRecord, Published, Shard
from guard.figures import publish
from guard.rederive import rederive
from tests.guard.duels import few, header, records, written

PROCESSES = 10
Clock = Callable[[np.random.Generator, ProcessRecord], float]


def wandering(clock: Clock, follows: dict[str, float], slowdown: float = 0.0) -> tuple[ProcessRecord, ...]:
    """Each process at a clock of its own; an arm's times fall with the clock to the power it `follows` it."""
    rng = np.random.default_rng(3)

    def at(record: ProcessRecord) -> ProcessRecord:
        mhz = clock(rng, record)
        factor = (1_900 / (mhz or 1_900)) ** follows[record.arm]
        times = tuple(
            m.model_copy(update={"times_ms": tuple(factor * t for t in m.times_ms)})
            for m in record.measurements
        )
        return record.model_copy(update={"measurements": times, "conditions": Conditions(sm_mhz=mhz)})

    return tuple(at(record) for record in records(slowdown, processes=PROCESSES))


def fast_baseline(rng: np.random.Generator, record: ProcessRecord) -> float:
    """The baseline happened to run at higher clocks, and each arm at some on either side of 1,900 MHz."""
    return 1_900 + (25 if record.arm == "A" else -25) + 45 * (2 * record.process / (PROCESSES - 1) - 1) ** 3


def said(lines: tuple[ProcessRecord, ...], **terms: bool) -> Published:
    own = few(looks=(PROCESSES,)).model_copy(update=terms)
    return publish([Shard(header=header(terms=own), processes=lines)])


def test_what_the_clock_did_is_taken_out_and_a_verdict_that_turns_round_is_flagged() -> None:
    published = said(wandering(fast_baseline, {"A": 1.0, "B": 1.0}, slowdown=-0.007))
    assert published.comparison is not None
    assert published.comparison.workloads[0].outcome is Outcome.SLOWER
    assert [o.ratio for o in published.at_one_clock] == pytest.approx([0.993] * 2, abs=0.005)
    assert {"CLOCKS_WANDER", "CLOCK_DISAGREES"} <= set(published.flags)
    assert sum("in both arms the ratio would be 0.9" in line for line in published.lines()) == 2


def test_a_verdict_that_stands_at_one_clock_is_not_flagged() -> None:
    published = said(wandering(fast_baseline, {"A": 1.0, "B": 0.3}, slowdown=0.1))
    assert all(o.ratio == pytest.approx(1.1, abs=0.01) for o in published.at_one_clock)
    assert "CLOCK_DISAGREES" not in published.flags


def test_a_candidate_whose_own_power_holds_it_at_a_lower_clock_is_compared_as_it_ran() -> None:
    published = said(
        wandering(lambda rng, r: (1_950 if r.arm == "A" else 1_500) + 80 * rng.random(), {"A": 1.0, "B": 1.0})
    )
    assert "CLOCKS_WANDER" in published.flags
    assert published.at_one_clock == () and "CLOCK_DISAGREES" not in published.flags


def test_clocks_that_stand_still_ask_for_no_second_opinion() -> None:
    assert said(wandering(lambda *_: 1_900.0, {"A": 1.0, "B": 1.0})).at_one_clock == ()


def test_a_clock_that_was_not_read_gives_none() -> None:
    def read(rng: np.random.Generator, record: ProcessRecord) -> float:
        return fast_baseline(rng, record) if record.process else 0.0

    published = said(wandering(read, {"A": 1.0, "B": 1.0}))
    assert "CLOCKS_WANDER" in published.flags and published.at_one_clock == ()


def test_files_from_before_ask_for_none_and_new_ones_are_derived_again(tmp_path) -> None:  # type: ignore[no-untyped-def]
    lines = wandering(fast_baseline, {"A": 1.0, "B": 1.0})
    assert said(lines, second_opinion=False).at_one_clock == ()
    path = written(tmp_path / "m.jsonl", header(terms=few(looks=(PROCESSES,))), lines)
    assert said(lines).at_one_clock and rederive(path).unfounded == ()
