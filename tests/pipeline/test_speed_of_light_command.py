"""`kernelarc sol` from the command line, and its table back into a score."""

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from leaderboard.tables import read_table
from pipeline.cli import main
from tasks import load

RUN = CliRunner()


@pytest.mark.parametrize(("hardware", "pricing"), [("B200", "published"), ("H200", "physical")])
def test_json_is_exactly_what_was_agreed(hardware: str, pricing: str) -> None:
    said = RUN.invoke(main, ["sol", "l1_rmsnorm", "--hardware", hardware, "--json"])
    content = json.loads(said.output)
    assert list(content) == ["hardware", "pricing", "workloads"]
    assert (content["hardware"], content["pricing"]) == (hardware, pricing)
    task = load("l1_rmsnorm")
    assert [w["uuid"] for w in content["workloads"]] == [w.uuid for w in task.workloads]
    assert all(list(w) == ["uuid", "axes", "t_sol_ms", "bound_by"] for w in content["workloads"])
    assert {w["bound_by"] for w in content["workloads"]} == {"memory"}


def test_the_table_can_be_read_as_a_table_of_t_sol(tmp_path: Path) -> None:
    file = tmp_path / "t_sol.json"
    said = RUN.invoke(main, ["sol", "l1_bf16_gemm", "--hardware", "H200", "--table", str(file)])
    assert said.exit_code == 0, said.output
    table = read_table(file)
    assert (table.quantity, table.provenance.pricing, table.provenance.hardware) == (
        "t_sol",
        "physical",
        "H200",
    )
    assert len(table.times_ms["l1_bf16_gemm"]) == len(load("l1_bf16_gemm").workloads)


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [(["--hardware", "B300"], "no hardware file"), (["--table", "/proc/none/t.json"], "cannot be written")],
)
def test_bad_input_is_one_sentence(arguments: list[str], sentence: str) -> None:
    said = RUN.invoke(main, ["sol", "l1_rmsnorm", *arguments])
    assert said.exit_code == 2
    assert sentence in said.output
