"""Values on a machine that has no room for two sets of them: what helps the checks is left out, nobody is blamed."""

import pytest
import torch

from guard.bank import Bank
from guard.reference_failure import ReferenceFailed
from guard.reference_values import Values
from tests.guard.cases import matmul_task


def values() -> Values:
    return Values(matmul_task(), torch.device("cpu"), "auto", Bank(0), b"s")


def full_after(calls: int, values: Values, monkeypatch: pytest.MonkeyPatch) -> None:
    """The reference runs out of memory once it was called so often."""
    run, made = values._code.run, []

    def one_more(*inputs: object) -> object:
        made.append(inputs)
        if len(made) > calls:
            raise torch.OutOfMemoryError("CUDA out of memory")
        return run(*inputs)

    monkeypatch.setattr(values._code, "run", one_more)


def test_without_room_for_two_sets_no_honest_error_is_known(monkeypatch: pytest.MonkeyPatch) -> None:
    v = values()
    assert v.honest_error(0, "tolerance", "fresh")
    v = values()
    full_after(1, v, monkeypatch)
    assert v.honest_error(0, "tolerance", "fresh") is None


def test_without_room_for_two_sets_the_values_stand_for_those_near_them(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    v = values()
    fresh = v.fresh(0, 3, "fresh")
    assert not torch.equal(v.fresh(0, 3, "near").inputs[0], fresh.inputs[0])
    full_after(1, v, monkeypatch)
    assert torch.equal(v.fresh(0, 3, "near").inputs[0], fresh.inputs[0])


def test_values_that_do_not_fit_at_all_are_the_machines_fault(monkeypatch: pytest.MonkeyPatch) -> None:
    v = values()
    full_after(0, v, monkeypatch)
    with pytest.raises(ReferenceFailed, match="does not fit") as failed:
        v.fresh(0, 0, "fresh")
    assert failed.value.blame == "machine"
