"""Values of another spread: powers of two, never up, and only where numbers mean nothing by sign or place."""

import torch

from guard.bank import Bank
from guard.checks import CallRecord, first_finding
from guard.checks.precision import precision
from guard.reference_values import Values
from guard.rescaled import grow, rescale
from tasks.workload import Tolerance
from tests.museum.tasks import TASKS


def test_a_matrix_shrinks_by_powers_of_two_and_keeps_a_few_of_its_elements() -> None:
    value = torch.randn(300, 128).bfloat16()
    after = value.clone()
    rescale([after], [True], 5)
    factors = (after.float() / value.float()).unique().tolist()
    assert factors == [2.0**-7, 2.0**-6, 2.0**-5, 0.25, 0.5, 1.0]
    assert 0.005 < float((after.float() / value.float() >= 0.25).float().mean()) < 0.03


def test_what_has_a_sign_a_structure_or_one_dimension_stays() -> None:
    torch.manual_seed(1)
    kept = [
        torch.randn(4096), torch.rand(64, 64), torch.randint(0, 2, (64, 64)).float() * 2 - 1, torch.arange(64 * 64),
        torch.randn(64, 64).to(torch.float8_e4m3fn), torch.randn(64, 64).t(), 3,
    ]  # fmt: skip
    before = [v.clone() if isinstance(v, torch.Tensor) else v for v in kept]
    rescale(kept, [True] * len(kept), 7)
    for now, was in zip(kept, before, strict=True):
        assert now is was or bool((now.float() == was.float()).all())
    one = torch.randn(64, 64)
    was = one.clone()
    rescale([one], [False], 7)
    assert torch.equal(one, was)


def test_varied_values_have_a_measure_of_rounding_of_their_own() -> None:
    values = Values(TASKS["matmul"](), torch.device("cpu"), "auto", Bank(1 << 28), b"k" * 32)
    fresh, varied = (values.honest_error(0, "strict", kind) for kind in ("fresh", "varied"))
    assert fresh is not None and varied is not None
    assert varied[0] < fresh[0] / 4
    again = values.fresh(0, 0, "varied")
    assert torch.equal(values.fresh(0, 0, "varied").inputs[1], again.inputs[1])


def test_sixteen_bits_leave_no_room_for_eight_under_strict() -> None:
    torch.manual_seed(2)
    a, b = torch.randn(64, 256).bfloat16(), torch.randn(256, 64).bfloat16()
    exact = (a.float() @ b.float()).bfloat16()
    eight = (a.to(torch.float8_e4m3fn).float() @ b.to(torch.float8_e4m3fn).float()).bfloat16()
    step = {"strict": 2.0**-7, "tolerance": 2.0**-4}
    size = 2**0.5 * float(exact.float().square().mean().sqrt())

    def found(output: torch.Tensor, policy: str) -> bool:
        record = CallRecord(
            given=[a, b, 1.0], seen=[a, b, 1.0], outputs=[output], expected=[exact], names=["c"], poison=[None],
            tolerance=Tolerance(), policy=policy, honest=[step[policy] * size],  # type: ignore[arg-type]
        )  # fmt: skip
        return precision(record) is not None

    assert found(eight, "strict")
    assert not found(eight, "tolerance")
    assert not found((a.float() @ b.float() * (1 + 2.0**-9)).bfloat16(), "strict")


def test_larger_values_are_judged_by_the_policy_and_not_by_the_tolerance() -> None:
    expected = torch.full((8, 64), 40.0)

    def found(output: torch.Tensor, is_beyond: bool) -> bool:
        record = CallRecord(
            given=[expected], seen=[expected], outputs=[output], expected=[expected], names=["c"], poison=[None],
            tolerance=Tolerance(), policy="strict", is_beyond=is_beyond,
        )  # fmt: skip
        return first_finding(record) is not None

    assert found(expected * 1.1, is_beyond=False)
    assert not found(expected * 1.1, is_beyond=True)
    assert found(expected * torch.inf, is_beyond=True)
    grown = torch.randn(64, 64)
    before = grown.clone()
    grow([grown], [True])
    assert torch.equal(grown, before * 4)
