"""REJECT, KEEP, ACCEPT, REVERT: by statistics, at the processes that a search affords."""

import random

import pytest

from guard.verdict import Measurement, ReasonCode
from pipeline.outcome import MARGINS, Word, rule_on
from pipeline.run_folder import Outcome
from tests.fakes.judge import GPU, fake_judge
from tests.fakes.task import candidate, doubling_task

TASK = doubling_task()


def outcome(behaviour: str, **foreseen) -> Outcome:
    asked = candidate(behaviour)
    return Outcome(candidate=asked, verdict=fake_judge(TASK, asked, environment=GPU), **foreseen)


def timed(name: str, process_means: list[float], noise: random.Random | None = None, spread=0.0) -> Outcome:
    """Every workload in every process at about its mean; the other kind of measurement says nonsense."""
    plain = outcome(f"accepted 1 {name}")
    measurements = []
    for process, mean in enumerate(process_means):
        for workload in TASK.workloads:
            ms = mean * (1 + (noise.gauss(0, spread) if noise else 0))
            times = (ms, ms * 1.001, ms * 0.999)
            for kind, by in (("official", 1.0), ("measured", 7.0)):
                shown = tuple(t * by for t in times)
                measurements.append(
                    Measurement(
                        workload=workload.uuid, process=process, timer="cupti", kind=kind, times_ms=shown
                    )
                )
    return plain.model_copy(
        update={"verdict": plain.verdict.model_copy(update={"measurements": tuple(measurements)})}
    )


def test_the_first_that_is_right_is_kept_and_wrong_ones_are_not():
    assert rule_on(outcome("accepted 3"), None, True).word is Word.KEEP
    assert rule_on(outcome("rejected numerical"), None, True).word is Word.REVERT
    assert rule_on(outcome("rejected path"), None, True).word is Word.REJECT


@pytest.mark.parametrize("code", [code for code in ReasonCode])
def test_only_what_never_reached_the_device_is_refused_at_the_gate(code):
    word = rule_on(outcome(f"rejected {code}"), outcome("accepted 1"), True).word
    assert (word is Word.REJECT) == (code in (ReasonCode.PATH, ReasonCode.BUILD))
    assert word in (Word.REJECT, Word.REVERT)


@pytest.mark.parametrize(
    ("means", "word"),
    [
        ([0.90, 0.90], Word.KEEP),
        ([0.996, 0.996], Word.ACCEPT),  # faster than the margin by nothing that two processes can show
        ([1.03, 1.03], Word.ACCEPT),
        ([1.2, 1.2], Word.REVERT),
        ([0.80, 1.10], Word.ACCEPT),  # the mean is faster, the spread is not
    ],
)
def test_two_processes_keep_only_what_is_surely_faster(means, word):
    assert rule_on(timed("new", means), timed("old", [1.0, 1.0]), True).word is word


def test_ten_processes_are_decided_by_the_guards_rank_test():
    old = timed("old", [1 + 0.001 * i for i in range(10)])
    faster = rule_on(timed("new", [0.97 + 0.001 * i for i in range(10)]), old, True)
    same = rule_on(timed("same", [1 + 0.001 * i for i in range(10)]), old, True)
    assert (faster.word, same.word) == (Word.KEEP, Word.ACCEPT)
    assert faster.high == pytest.approx(0.97, abs=0.01)


def test_equal_candidates_are_kept_no_more_often_than_alpha_allows():
    noise, kept = random.Random(3), 0
    for number in range(600):
        # at the margin itself, the hardest case that must not be kept
        pair = [
            timed(f"{arm} {number}", [mean * (1 + noise.gauss(0, MARGINS.spread)) for _ in range(2)])
            for arm, mean in (("old", 1.0), ("new", 1 - MARGINS.surely))
        ]
        kept += rule_on(pair[1], pair[0], True).word is Word.KEEP
    assert kept <= 14  # binomial(600, 0.01) exceeds this once in a thousand times


def test_a_real_two_percent_is_found_most_of_the_time():
    noise, kept = random.Random(4), 0
    for number in range(100):
        old, new = ([m * (1 + noise.gauss(0, MARGINS.spread)) for _ in range(2)] for m in (1.0, 0.98))
        kept += rule_on(timed(f"n{number}", new), timed(f"o{number}", old), True).word is Word.KEEP
    assert kept >= 80


def test_away_from_the_target_predictions_rule_and_a_build_that_fails_reverts():
    old = outcome("accepted 1", predicted_ms=2.0)
    assert rule_on(outcome("accepted 2", predicted_ms=1.8), old, False).word is Word.KEEP
    assert rule_on(outcome("accepted 3", predicted_ms=2.05), old, False).word is Word.ACCEPT
    assert rule_on(outcome("accepted 4", predicted_ms=3.0), old, False).word is Word.REVERT
    assert rule_on(outcome("accepted 5"), old, False).word is Word.REVERT
    assert (
        rule_on(outcome("accepted 6", predicted_ms=1.0, builds_for_target=False), old, False).word
        is Word.REVERT
    )


def test_without_raw_times_only_a_wide_lead_displaces_the_incumbent():
    bare = {"measurements": ()}
    old, near, far = (
        o.model_copy(update={"verdict": o.verdict.model_copy(update=bare)})
        for o in (outcome("accepted 1"), outcome("accepted 0.97"), outcome("accepted 0.9"))
    )
    assert rule_on(near, old, True).word is Word.ACCEPT
    assert rule_on(far, old, True).word is Word.KEEP
