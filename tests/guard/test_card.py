"""Which of a machine's cards is asked about."""

from types import SimpleNamespace

import pytest

from guard.card import our_card

NVML = SimpleNamespace(
    nvmlDeviceGetHandleByIndex=lambda index: f"number {index}", nvmlDeviceGetHandleByUUID=lambda uuid: uuid
)


@pytest.mark.parametrize(
    ("visible", "expected"),
    [(None, "number 0"), ("", "number 0"), ("3", "number 3"), ("2,0", "number 2"), ("GPU-1a", "GPU-1a")],
)
def test_the_first_card_that_cuda_sees_is_ours(
    visible: str | None, expected: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("CUDA_VISIBLE_DEVICES", raising=False)
    if visible is not None:
        monkeypatch.setenv("CUDA_VISIBLE_DEVICES", visible)
    assert our_card(NVML) == expected
