"""What a tolerance lets through, asked of the reference."""

import json
import math

import pytest
import torch
from click.testing import CliRunner

from guard.audit.admission import audit
from guard.audit.alternatives import ALTERNATIVES
from guard.session import Session
from pipeline.commands.audit import audit as command
from tasks.task import Task
from tasks.workload import Tolerance
from tests.guard.cases import matmul_task


def made(name: str, inputs: list[object], *expected: torch.Tensor) -> tuple[torch.Tensor, ...] | None:
    """The alternative's outputs where the reference sums its inputs."""
    return ALTERNATIVES[name].make(inputs, expected, lambda given: (sum(given),))  # type: ignore[arg-type]


def verdicts(task: Task, session: Session) -> dict[str, bool | None]:
    """Of each alternative whether it passes; None where there is no such one."""
    return {f.alternative: f.passes if f.applies else None for f in audit(task, session).findings}


def test_a_tight_tolerance_lets_none_through(session: Session) -> None:
    found = verdicts(matmul_task(rows=(24,), tolerance=Tolerance(max_atol=1e-4, max_rtol=1e-4)), session)
    assert found == {
        "zeros": False, "mean": False, "identity": None, "shuffled-rows": False, "unfinished-tail": False,
        "tf32-inputs": False, "fp16-inputs": False, "bf16-inputs": False, "fp8-inputs": False,
    }  # fmt: skip


def test_an_atol_beyond_the_outputs_lets_everything_through_but_zeros(session: Session) -> None:
    """The official comparison refuses outputs of zeros whatever the tolerance."""
    found = verdicts(matmul_task(rows=(24,), tolerance=Tolerance(max_atol=100.0)), session)
    assert found.pop("zeros") is False
    assert set(found.values()) == {True, None}


def test_a_tolerance_between_tells_narrow_types_apart(session: Session) -> None:
    """Sums of 32 products of normal numbers: ten bits of mantissa keep within 0.02, three do not."""
    found = verdicts(matmul_task(rows=(24,), tolerance=Tolerance(max_atol=0.02, max_rtol=0.0)), session)
    assert found["tf32-inputs"] and found["fp16-inputs"]
    assert found["fp8-inputs"] is False


def test_every_workload_is_asked_and_says_its_ratio(session: Session) -> None:
    found = audit(matmul_task(rows=(24, 40)), session, draws=1)
    assert {f.workload for f in found.findings} == {"m24", "m40"}
    assert len(found.findings) == 2 * len(ALTERNATIVES)
    tail = next(f for f in found.findings if f.alternative == "unfinished-tail")
    assert tail.matched_ratio == pytest.approx(1 - 24 / (24 * 48)), "a fiftieth of 1,152 elements is wrong"
    assert tail.required == 0.99


def test_a_reference_that_rejects_the_coarse_inputs_is_said_and_not_held_against_anybody(
    session: Session,
) -> None:
    picky = (
        "import torch\n\n\ndef run(A, B):\n    if torch.equal(A, A.bfloat16().float()):\n"
        "        raise ValueError('too coarse')\n    return torch.mm(A, B)\n"
    )
    found = audit(matmul_task(rows=(24,), reference=picky), session, draws=1).findings
    refused = [f for f in found if not f.applies and "too coarse" in f.remark]
    assert "bf16-inputs" in [f.alternative for f in refused]


def test_the_tail_is_a_fiftieth() -> None:
    (out,) = made("unfinished-tail", [], torch.ones(20, 50)) or ()
    assert int((out == 0).sum()) == 20 and bool((out.reshape(-1)[-20:] == 0).all())


def test_rows_are_shuffled_and_a_single_one_has_nowhere_to_go() -> None:
    (out,) = made("shuffled-rows", [], torch.arange(6.0).reshape(3, 2)) or ()
    assert out.tolist() == [[4.0, 5.0], [0.0, 1.0], [2.0, 3.0]]
    assert made("shuffled-rows", [], torch.ones(1, 5)) is None


def test_the_mean_is_taken_over_finite_elements() -> None:
    (out,) = made("mean", [], torch.tensor([1.0, 3.0, -math.inf])) or ()
    assert out.tolist() == [2.0, 2.0, 2.0]
    assert made("mean", [], torch.tensor([1, 2])) is None


def test_an_input_is_handed_back_only_where_shapes_agree() -> None:
    given = torch.ones(3)
    (out,) = made("identity", [torch.ones(2), given], torch.zeros(3, dtype=torch.float16)) or ()
    assert out.tolist() == [1.0, 1.0, 1.0] and out.dtype is torch.float16
    assert made("identity", [torch.ones(2)], torch.zeros(3)) is None


@pytest.mark.parametrize(("name", "bits"), [("tf32", 10), ("fp16", 10), ("bf16", 7), ("fp8", 3)])
def test_inputs_are_rounded_to_so_many_bits_and_no_more(name: str, bits: int) -> None:
    """A number that needs one bit more than there are moves, by at most half of the last bit that is kept."""
    fits, not_quite = 1 + 2.0**-bits, 1 + 2.0 ** -(bits + 1) * 1.5
    given = torch.tensor([fits, not_quite, 1.75])
    (out,) = made(f"{name}-inputs", [given], given) or ()
    scale = 448 / 1.75 if name == "fp8" else 1.0
    error = ((out - given).abs() / given).max()
    assert error <= 2.0 ** -(bits + 1)
    assert error > 0 and (name == "fp8" or out[0] == fits)
    assert scale * 1.75 <= 448


def test_half_way_is_rounded_to_the_even_neighbour_in_tf32() -> None:
    given = torch.tensor([1 + 2.0**-11, 1 + 3 * 2.0**-11, -1 - 2.0**-11])
    (out,) = made("tf32-inputs", [given], given) or ()
    assert out.tolist() == [1.0, 1 + 2.0**-9, -1.0]


def test_inputs_that_are_narrow_already_are_no_alternative() -> None:
    given = torch.ones(3, dtype=torch.bfloat16)
    assert made("bf16-inputs", [given], given) is None
    assert made("tf32-inputs", [given], given) is None
    assert made("fp8-inputs", [given], given) is not None


def test_the_command_prints_every_ratio_and_exits_by_what_passes() -> None:
    done = CliRunner().invoke(
        command, ["l1_swiglu", "--device", "cpu", "--draws", "1", "--json"], standalone_mode=False
    )
    content = json.loads(done.stdout)
    assert {f["alternative"] for f in content["findings"]} == set(ALTERNATIVES)
    careless = [name for name in content["let_through"] if not name.endswith("-inputs")]
    assert done.return_value == (1 if careless else 0)
