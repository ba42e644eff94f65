"""`sentinels`, `regress` and `snapshot --solution` from the command line, over a GPU that is made up."""

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

import guard.environment
import pipeline.sentinels
from guard.protocol import FINAL
from leaderboard.frozen.kernel import sentinel_names
from pipeline.cli import main
from tasks.solution_file import write_solution
from tests.fakes.card import Card, a_card
from tests.fakes.task import candidate, doubling_task
from tests.leaderboard.snapshots import H200


@pytest.fixture
def card(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Card:
    return a_card(tmp_path, monkeypatch)


def run(*arguments: object) -> Result:
    return CliRunner().invoke(main, [str(argument) for argument in arguments])


def taken(*names: str) -> list[Path]:
    done = run("sentinels", *names, "--json")
    assert done.exit_code == 0, done.stderr
    return [Path(file) for file in json.loads(done.stdout)["files"]]


def test_all_sentinels_are_taken_under_the_final_protocol_as_cubins_for_this_gpu(card: Card) -> None:
    files = taken()
    assert card.judged == [(name, FINAL.processes) for name in sentinel_names()]
    for file in files:
        held = json.loads(file.read_text())
        assert held["candidate"]["strategy"].endswith("for sm_90a") and held["target"] == "LOCAL"
        assert "cuModuleLoadData" in held["solution"]["sources"][0]["content"]


def test_without_a_snapshot_named_a_check_takes_all_of_them_sentinels_first(card: Card) -> None:
    first = taken()[0]
    (Path("leaderboard/snapshots") / "a.json").write_text(first.read_text())
    assert run("regress").exit_code == 2  # a.json is not what its name says, and so is refused
    (Path("leaderboard/snapshots") / "a.json").unlink()
    card.judged.clear()
    card.environment = H200.model_copy(update={"driver": "590.1"})
    done = run("regress", "--json")
    said = json.loads(done.stdout)
    assert (done.exit_code, [r["answer"] for r in said]) == (0, ["REPRODUCED"] * 6)
    assert [name for name, _ in card.judged] == list(sentinel_names())
    assert len(list(Path(".kernelarc/sessions").rglob("*.json"))) == 6


def test_with_no_snapshot_anywhere_it_says_how_to_take_the_sentinels(card: Card) -> None:
    done = run("regress")
    assert done.exit_code == 2 and "kernelarc sentinels" in done.stderr


@pytest.mark.parametrize(("factor", "found"), [(1.02, ["sentinel_reduce"]), (1.004, [])])
def test_two_percent_on_one_sentinel_are_found_and_less_than_a_session_moves_is_not(
    card: Card, factor: float, found: list[str]
) -> None:
    taken()
    card.slower = {"sentinel_reduce": factor}
    done = run("regress", "--json")
    said = json.loads(done.stdout)
    assert [r["name"].rsplit("-", 1)[0] for r in said if r["answer"] == "SLOWER"] == found
    assert done.exit_code == (1 if found else 0)


def test_another_device_is_not_comparable_and_nothing_is_judged(card: Card) -> None:
    files = taken("sentinel_copy", "sentinel_launch")
    card.judged.clear()
    card.environment = H200.model_copy(update={"device": "NVIDIA B200", "uuid": "GPU-3"})
    done = run("regress", *files)
    assert (done.exit_code, card.judged) == (2, []) and "NOT COMPARABLE" in done.stdout


def test_what_no_longer_fits_is_left_out_with_exit_1(card: Card, monkeypatch: pytest.MonkeyPatch) -> None:
    clock = iter(range(0, 100_000, 50))
    monkeypatch.setattr(pipeline.sentinels.time, "monotonic", lambda: float(next(clock)))
    done = run("sentinels", "--max-seconds", 400, "--json")
    assert done.exit_code == 1 and 0 < len(json.loads(done.stdout)["files"]) < 6
    assert "no time is left for it" in done.stderr


def test_a_cpu_and_a_gpu_nothing_was_built_for_are_told_so(
    card: Card, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(guard.environment, "gpu_architecture", lambda: "8.0")
    done = run("sentinels", "sentinel_copy")
    assert done.exit_code == 2 and "was not built for sm_80a" in done.stderr
    monkeypatch.setattr(pipeline.sentinels, "choose_device", lambda _: "cpu")
    assert "take them on a GPU" in run("sentinels").stderr


def a_solution(folder: Path) -> tuple[Path, Path]:
    """A problem of its own in `folder`, and a file that solves it."""
    task = doubling_task((4, 8))
    folder.mkdir()
    (folder / "definition.json").write_text(task.definition.model_dump_json())
    lines = "".join(workload.model_dump_json() + "\n" for workload in task.workloads)
    (folder / "workload.jsonl").write_text(lines)
    file = folder / "mine.json"
    file.write_text(write_solution(candidate("accepted 1", task).solution))
    return folder, file


def test_a_solution_is_judged_now_and_kept_as_a_submission_and_a_snapshot(card: Card, tmp_path: Path) -> None:
    folder, file = a_solution(tmp_path / "doubling")
    done = run("snapshot", folder, "--solution", file, "--out", tmp_path / "s", "--json")
    assert done.exit_code == 0, done.stderr
    said = json.loads(done.stdout)
    held = json.loads(Path(said["file"]).read_text())
    assert {len(t["medians_ms"]) for t in held["times"]} == {FINAL.processes}
    kept = next(Path("submissions").rglob("evidence.json")).parent
    assert run("verify", kept).exit_code == 0
    assert run("reproduce", said["file"]).exit_code == 0


def test_a_solution_that_is_rejected_is_no_snapshot(card: Card, tmp_path: Path) -> None:
    folder, file = a_solution(tmp_path / "doubling")
    card.rejects = True
    done = run("snapshot", folder, "--solution", file, "--out", tmp_path / "s")
    assert done.exit_code == 2 and "not as the reference" in done.stderr
    assert not (tmp_path / "s").exists()


def test_what_ten_processes_leave_open_is_judged_by_ten_more_and_no_other(card: Card) -> None:
    names = ("sentinel_copy", "sentinel_reduce")
    files = taken(*names)
    card.judged.clear()
    card.spread = 0.04
    done = run("regress", *files[:1], "--json")
    (said,) = json.loads(done.stdout)
    assert card.judged == [("sentinel_copy", 10)] * 2 and "a second look" in done.stderr
    assert said["holding"]["workloads"][0]["processes"] == [10, 20]
    card.judged.clear()
    card.spread = 0.002
    assert run("regress", *files[1:]).exit_code == 0 and card.judged == [("sentinel_reduce", 10)]
