"""Values made ahead of the calls that ask for them: the same values, within the room there is, and no fault of anybody's."""

import os

import pytest
import torch

from guard.bank import Bank
from guard.reference_values import Values
from guard.working_ahead import WorkingAhead
from tests.guard.cases import matmul_task


def values(room: int, secret: bytes = b"s") -> Values:
    return Values(matmul_task(), torch.device("cpu"), "auto", Bank(room), secret)


def test_what_is_made_ahead_is_what_the_calls_would_have_drawn() -> None:
    early, late = values(1 << 24), values(1 << 24)
    ahead = WorkingAhead(early, 0.0, 0)
    while ahead.step():
        pass
    held = early.bank.held_bytes
    asked = [lambda v, k=k, r=r: v.official(k, r, (10,) * k) for k in range(2) for r in range(10)]
    asked += [lambda v, s=s, kind=kind: v.fresh(1, s, kind) for s in range(4) for kind in ("fresh", "near")]
    for ask in asked:
        a, b = ask(early), ask(late)
        for one, other in zip((*a.inputs, *a.expected), (*b.inputs, *b.expected), strict=True):
            assert torch.equal(one, other)
    assert early.bank.held_bytes == held, "all of it was there already"


def test_a_search_of_two_rounds_leaves_the_stream_where_it_was() -> None:
    """Other histories than the final judgement's are drawn as ever, whatever was made ahead."""
    early, late = values(1 << 24), values(1 << 24)
    ahead = WorkingAhead(early, 0.0, 0)
    while ahead.step():
        pass
    for v in (early, late):
        v.official(0, 0, ()), v.official(0, 1, ())
    assert torch.equal(early.official(1, 0, (2,)).inputs[0], late.official(1, 0, (2,)).inputs[0])


def test_nothing_is_driven_out_and_no_fault_ends_the_process(monkeypatch: pytest.MonkeyPatch) -> None:
    v = values(1 << 24)
    one = v.fresh(0, 0, "fresh").bytes
    small = values(3 * one)
    ahead = WorkingAhead(small, 0.0, max(v.fresh(k, 0, "fresh").bytes for k in range(2)))
    kept = small.fresh(0, 0, "fresh")
    while ahead.step():
        pass
    assert small.bank.get(("fresh", 0, 0, "fresh")) is kept
    monkeypatch.setattr(v, "fresh", lambda *_: os.strerror("no number"))
    broken = WorkingAhead(v, 0.0, 0)
    assert [broken.step(), broken.step()] == [False, False]
