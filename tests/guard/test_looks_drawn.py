"""Which tensors of a definition's own generator may have their elements moved, and which mean something by their place."""

import pytest
import torch

from guard.looks_drawn import looks_drawn

DRAW = torch.Generator().manual_seed(3)
NORMAL = torch.randn(64, 256, generator=DRAW)
ANGLES = torch.outer(torch.arange(64.0), 10000 ** -(torch.arange(128.0) / 128))


@pytest.mark.parametrize(
    "value",
    [
        NORMAL,
        NORMAL.bfloat16(),
        NORMAL * 0.02,
        (NORMAL * 100).to(torch.float8_e4m3fn),
        NORMAL.view(4, 16, 256),
    ],
    ids=["fp32", "bf16", "small", "fp8", "three dimensions"],
)
def test_normal_numbers_of_any_width_may_be_moved(value: torch.Tensor) -> None:
    assert looks_drawn(value)


@pytest.mark.parametrize(
    "value",
    [
        ANGLES.sin(), ANGLES.cos(), NORMAL.abs(), torch.rand(64, 256) - 0.5, NORMAL.softmax(-1), NORMAL[:1],
        torch.cat([NORMAL, NORMAL], -1), NORMAL[:1].expand(64, 256).contiguous(), NORMAL.T, torch.zeros(64, 256),
        torch.full((64, 256), float("-inf")).triu(1), NORMAL.to(torch.int64), torch.eye(128), 1.0,
    ],
    ids=[
        "sines", "cosines", "scales", "uniform", "shares", "few", "twice the same halves", "the same rows",
        "not contiguous", "zeros", "mask", "integers", "one-hot", "a number",
    ],
)  # fmt: skip
def test_what_means_something_by_its_place_stays(value: object) -> None:
    assert not looks_drawn(value)
