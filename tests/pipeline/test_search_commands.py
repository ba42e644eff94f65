"""`search`, `replay` and `conclusions` as a person types them, over a fake guard."""

import json
from pathlib import Path

import pytest

import agents.registry
from tests.fakes.designs import Designer
from tests.pipeline.test_cli import problem, run

__all__ = ["problem"]


@pytest.fixture
def designers(monkeypatch) -> dict[str, list[str]]:
    """Two agents by the names of real ones; their behaviours may be changed between commands."""
    behaviours = {"library": ["accepted 4", "accepted 3"], "template": ["accepted 2", "rejected numerical"]}
    kinds = {"library": "torch", "template": "dot"}
    made = {
        name: lambda task, seed, *, target, name=name: Designer(name, kinds[name], behaviours[name])
        for name in behaviours
    }
    monkeypatch.setattr(agents.registry, "AGENTS", {**made})
    return behaviours


def searched(folder: Path, *more: object) -> Path:
    result = run("search", folder, "--device", "cpu", "--budget", 4, *more, "--json")
    assert result.exit_code == 0, result.stderr
    return Path(json.loads(result.stdout)["run"])


def test_a_search_is_replayed_hash_for_hash_and_its_folder_stays_as_it_is(problem, designers):
    folder = searched(problem, "--policy", "controller", "--memory", "top:3")
    before = {file: file.read_bytes() for file in folder.rglob("*") if file.is_file()}
    said = json.loads(run("replay", folder, "--json").stdout)
    assert said["same"] is True and said["events"] >= 9 and len(said["hash"]) == 64
    assert run("replay", folder).exit_code == 0
    assert {file: file.read_bytes() for file in folder.rglob("*") if file.is_file()} == before


def test_a_replay_names_the_first_event_that_differs(problem, designers):
    folder = searched(problem)
    designers["template"][0] = "accepted 2.5"
    result = run("replay", folder)
    assert result.exit_code == 1
    assert (
        result.stdout.startswith("2 events are the same, then: it was ") and "accepted 2.5" in result.stdout
    )


def test_a_replay_of_what_is_no_run_or_of_a_changed_task_is_bad_input(problem, designers, tmp_path):
    assert run("replay", tmp_path / "nothing").exit_code == 2
    folder = searched(problem)
    file = problem / "workload.jsonl"
    file.write_text(file.read_text().replace('"n":4', '"n":6').replace('"n": 4', '"n": 6'))
    result = run("replay", folder)
    assert result.exit_code == 2 and "its task has changed since" in result.stderr


def test_conclusions_are_shown_with_their_evidence(problem, designers):
    folder = searched(problem)
    shown = json.loads(run("conclusions", "--json").stdout)
    assert [f["conclusion"]["kind"] for f in shown] == ["trap"], [
        f["conclusion"]["reflection"] for f in shown
    ]
    assert all(len(digest) == 64 for f in shown for digest in f["conclusion"]["evidence"])
    text = run("conclusions", "--runs", folder.parent).stdout
    assert "evidence: " in text and "numerical" in text
    assert run("conclusions", "another task").stdout == "nothing was concluded yet\n"
    assert run("conclusions", "--blackboard", "nonsense").exit_code == 2


@pytest.mark.parametrize(
    ("option", "value"),
    [
        ("--memory", "some"),
        ("--workers", "-1"),
        ("--patience", "0"),
        ("--max-dollars", "nan"),
        ("--policy", "luck"),
    ],
)
def test_a_wrong_option_is_bad_input_and_named(problem, option, value):
    result = run("search", problem, option, value)
    assert result.exit_code == 2 and option in result.stderr


def test_patience_and_limits_stop_a_search_and_the_journal_says_why(problem, designers):
    designers["library"][:] = [f"rejected numerical {n}" for n in range(9)]
    designers["template"][:] = ["rejected runtime"]
    result = run("search", problem, "--device", "cpu", "--budget", 9, "--patience", 3, "--json")
    folder = Path(json.loads(result.stdout)["run"])
    assert result.exit_code == 1
    assert "3 candidates in a row brought nothing" in (folder / "journal.jsonl").read_text()
