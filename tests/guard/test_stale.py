"""An answer to the call before is named, however few elements lie between the two questions."""

import torch

from guard.checks import CallRecord
from guard.checks.stale import stale
from guard.rearranged import rearranged
from guard.verdict import ReasonCode
from tasks.workload import Tolerance


def record(output: torch.Tensor, expected: torch.Tensor, before: torch.Tensor | None) -> CallRecord:
    return CallRecord(
        given=[], seen=[], outputs=[output], expected=[expected], names=["y"], poison=[None], tolerance=Tolerance(),
        before=None if before is None else [before],
    )  # fmt: skip


def nearly(rows: int = 4000) -> tuple[torch.Tensor, torch.Tensor]:
    """Expected outputs that differ in two rows of thousands, as two exchanged elements make them."""
    torch.manual_seed(3)
    before = torch.randn(rows, 8).bfloat16()
    expected = before.clone()
    expected[7:9] += torch.randn(2, 8).bfloat16()
    return expected, before


def test_two_rows_of_thousands_tell_an_old_answer() -> None:
    expected, before = nearly()
    found = stale(record(before.clone(), expected, before))
    assert found is not None
    assert found.code == ReasonCode.NUMERICAL


def test_an_old_answer_with_rounding_of_its_own_is_told_too() -> None:
    expected, before = nearly()
    assert stale(record(before * (1 + 2**-7), expected, before)) is not None


def test_a_coarse_answer_to_the_right_question_is_not_stale() -> None:
    expected, before = nearly()
    assert stale(record(expected * (1 + torch.randn_like(expected) / 4), expected, before)) is None
    assert stale(record(torch.zeros_like(expected), expected, before)) is None


def test_without_a_call_before_or_a_difference_nothing_is_said() -> None:
    expected, _ = nearly()
    assert stale(record(expected.clone(), expected, None)) is None
    assert stale(record(expected.clone(), expected, expected.clone())) is None


def test_swap_exchanges_two_elements_of_one_input() -> None:
    inputs = [torch.randn(40, 9), torch.randn(30), torch.arange(6)]
    hit = set()
    for seed in range(20):
        after = rearranged(inputs, [True, True, True], seed, "swap")
        moved = [int((a != b).sum()) for a, b in zip(after, inputs, strict=True)]
        assert sorted(moved) == [0, 0, 2]
        assert all(
            torch.equal(a.flatten().sort()[0], b.flatten().sort()[0])
            for a, b in zip(after, inputs, strict=True)
        )
        hit.add(moved.index(2))
    assert hit == {0, 1}


def test_a_better_rounded_answer_that_equals_the_one_before_is_not_stale() -> None:
    before = torch.tensor(1.0)
    assert stale(record(before.clone(), torch.nextafter(before, torch.tensor(2.0)), before)) is None
