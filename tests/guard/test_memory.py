"""How much memory is planned with."""

import sys
import types

import pytest

from guard import memory

_GIB = 1 << 30


def _card(monkeypatch: pytest.MonkeyPatch, free_gib: list[int]) -> None:
    """A card whose free memory reads like this, one reading after another; the last for ever."""
    readings = iter(free_gib)
    held = {"free": 0}

    def info(_: object) -> types.SimpleNamespace:
        held["free"] = next(readings, held["free"])
        return types.SimpleNamespace(free=held["free"] * _GIB)

    card = types.ModuleType("pynvml")
    card.nvmlInit = card.nvmlShutdown = lambda: None  # type: ignore[attr-defined]
    card.nvmlDeviceGetHandleByIndex = lambda index: index  # type: ignore[attr-defined]
    card.nvmlDeviceGetMemoryInfo = info  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "pynvml", card)
    monkeypatch.setattr("guard.memory.time.sleep", lambda _: None)


def test_memory_that_comes_back_in_steps_with_rests_between_is_waited_for(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    _card(monkeypatch, [79, 79, 79, 110, 110, 138])
    assert memory.available_bytes("cuda") == 138 * _GIB


def test_memory_that_a_stranger_takes_meanwhile_is_not_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    _card(monkeypatch, [100, 90, 80, 70, 60, 50, 40])
    assert memory.available_bytes("cuda") == 60 * _GIB


def test_the_cache_is_a_share_of_what_is_free_and_no_more_than_its_most() -> None:
    assert memory.cache_bytes("cuda", 10 * _GIB) == int(1.5 * _GIB)
    assert memory.cache_bytes("cuda", 1000 * _GIB) == 16 * _GIB
    assert memory.cache_bytes("cpu", 8 * _GIB) == 2 * _GIB
