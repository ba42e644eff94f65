"""The official comparison: its figures to the last bit, in bounded memory."""

import json
import math
from pathlib import Path
from typing import Any

import pytest
import torch

from guard.compare import NOTHING_YET, Figures, compare, compare_round, interface_status, keep
from tasks.errors import TaskError
from tasks.trace import Status
from tasks.workload import Tolerance

CASES = json.loads((Path(__file__).parent / "recorded" / "comparisons.json").read_text())["cases"]
"""Judged by the public evaluator at the commit that stands in the file."""


def tensor(values: list[Any], dtype: str) -> torch.Tensor:
    wanted = getattr(torch, dtype)
    plain = torch.float32 if dtype.startswith("float8") else wanted
    return torch.tensor([float(v) if isinstance(v, str) else v for v in values], dtype=plain).to(wanted)


@pytest.mark.parametrize("chunk_bytes", [1, 48, 2**20])
@pytest.mark.parametrize("case", CASES, ids=[case["case"] for case in CASES])
def test_figures_are_those_of_the_public_evaluator(case: dict[str, Any], chunk_bytes: int) -> None:
    output, expected = (tensor(case[side], case["dtype"]) for side in ("output", "expected"))
    figures = compare(output, expected, Tolerance(**case["tolerance"]), chunk_bytes)
    named = ("max_absolute_error", "max_relative_error", "has_nan", "has_inf", "passes")
    assert {name: getattr(figures, name) for name in named} == {name: case[name] for name in named}


@pytest.mark.parametrize("count", [1, 99, 100, 101, 199, 1000, 10_000, 12_345, 100_000])
def test_a_hundredth_of_the_elements_rounded_down_may_be_wrong_and_no_more(count: int) -> None:
    expected = torch.ones(count)
    for wrong, passes in ((count // 100, True), (count // 100 + 1, False)):
        output = expected.clone()
        output[:wrong] = 9.0
        assert compare(output, expected, Tolerance(), 4096).passes is passes


def test_the_matched_ratio_is_the_share_within_tolerance() -> None:
    output = torch.tensor([1.0, 1.0, 1.0, 9.0])
    assert compare(output, torch.ones(4), Tolerance()).matched_ratio == 0.75


def test_outputs_that_are_not_contiguous_are_compared_by_position() -> None:
    expected = torch.arange(12.0).reshape(3, 4)
    assert compare(expected.t().contiguous().t(), expected, Tolerance(max_atol=0, max_rtol=0)).passes


def test_pieces_keep_memory_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    converted: list[int] = []
    original = torch.Tensor.to

    def watched(of: torch.Tensor, dtype: torch.dtype) -> torch.Tensor:
        converted.append(of.numel())
        return original(of, dtype)

    monkeypatch.setattr(torch.Tensor, "to", watched)
    compare(torch.ones(10_000), torch.ones(10_000), Tolerance(), chunk_bytes=24_000)
    assert max(converted) == 1000
    assert sum(converted) >= 20_000


def test_fp4_outputs_cannot_be_compared() -> None:
    packed = torch.zeros(4, dtype=torch.uint8).view(torch.float4_e2m1fn_x2)
    with pytest.raises(TaskError, match="fp4 outputs cannot be compared"):
        compare(packed, packed, Tolerance())


@pytest.mark.parametrize(
    ("outputs", "status"),
    [
        ([torch.zeros(2), torch.zeros(3)], None),
        ([torch.zeros(2), torch.zeros(1, 3)], Status.INCORRECT_SHAPE),
        ([torch.zeros(2), torch.zeros(3).half()], Status.INCORRECT_DTYPE),
        ([torch.zeros(2).half(), torch.zeros(4)], Status.INCORRECT_DTYPE),
        ([torch.zeros(4).half(), torch.zeros(3)], Status.INCORRECT_SHAPE),
    ],
)
def test_the_first_output_that_differs_decides_and_its_shape_before_its_dtype(
    outputs: list[torch.Tensor], status: Status | None
) -> None:
    assert interface_status(outputs, [torch.zeros(2), torch.zeros(3)]) is status


def test_the_record_kept_is_the_first_with_the_largest_absolute_error() -> None:
    small = Figures(max_absolute_error=1.0, max_relative_error=9.0, matched_ratio=0.995)
    large = Figures(max_absolute_error=2.0, max_relative_error=0.1)
    tied = Figures(max_absolute_error=2.0, max_relative_error=5.0)
    kept = keep(keep(keep(NOTHING_YET, small), large), tied)
    assert (kept.max_absolute_error, kept.max_relative_error) == (2.0, 0.1)
    assert kept.matched_ratio == 0.995
    assert keep(large, small).max_absolute_error == 2.0


def test_nan_displaces_all_and_infinity_all_but_nan() -> None:
    large = Figures(max_absolute_error=2.0)
    nan, infinite = Figures(has_nan=True, passes=False), Figures(has_inf=True, passes=False)
    assert keep(large, nan).has_nan
    assert keep(large, nan).max_absolute_error == 0.0
    assert keep(large, infinite).has_inf
    assert keep(nan, infinite).has_nan
    assert not keep(nan, infinite).has_inf


def test_a_round_stops_at_its_first_failing_output() -> None:
    outputs = [torch.ones(3), torch.full((3,), 2.0), torch.full((3,), math.nan)]
    status, kept = compare_round(outputs, [torch.ones(3)] * 3, Tolerance())
    assert status is Status.INCORRECT_NUMERICAL
    assert kept.correctness.model_dump(exclude={"extra"}) == {
        "max_absolute_error": 1.0, "max_relative_error": 1.0, "has_nan": False, "has_inf": False,
    }  # fmt: skip


def test_figures_are_kept_over_rounds() -> None:
    tolerance = Tolerance(max_atol=1.0)
    _, kept = compare_round([torch.tensor([1.5])], [torch.ones(1)], tolerance)
    status, kept = compare_round([torch.tensor([1.25])], [torch.ones(1)], tolerance, kept)
    assert status is None
    assert kept.max_absolute_error == 0.5


def test_errors_past_fp32_become_its_largest_in_a_trace() -> None:
    figures = compare(torch.tensor([3e38]), torch.tensor([-3e38]), Tolerance())
    assert not figures.passes
    assert figures.max_absolute_error == math.inf
    assert figures.correctness.max_absolute_error == torch.finfo(torch.float32).max
