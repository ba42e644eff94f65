"""The recorder of landscapes: it goes on where it stopped, survives its settings, and is read by the table of bars."""

import json
from pathlib import Path
from typing import Any

import pytest

from agents.proposal import Proposal
from agents.templates import FAMILIES
from agents.templates.gemm import GemmFamily
from scripts.headline.candidates import ours, peer_of
from scripts.headline.command import _verdict
from scripts.headline.rows import ROWS, Row
from scripts.landscape import bench_process
from scripts.landscape.bench_process import BenchProcess
from scripts.landscape.record import Record, read_landscape
from scripts.landscape.settings import settings_of
from tasks.errors import TaskError
from tasks.loading import load
from tasks.solution import Hardware, Solution
from tasks.task import Task
from tests.agents.small import make_task
from tests.agents.test_gemm import FEW, TASKS
from tests.guard.duels import header, records


def line(knobs: dict[str, Any], uuid: str = "u", **found: Any) -> dict[str, Any]:
    return {"knobs": knobs, "uuid": uuid, **found}


def test_a_file_goes_on_where_it_stopped_and_loses_a_line_that_was_cut_off(tmp_path: Path) -> None:
    path, head = tmp_path / "new" / "l.jsonl", {"family": "gemm", "task_digest": "t"}
    record = Record(path, head)
    record.add(line({"b": 1, "a": True}, ms=1.0))
    with path.open("a") as file:
        file.write('{"knobs": {"b": 2')
    again = Record(path, head)
    assert again.done == {("a=True,b=1", "u")}
    again.add(line({"a": False, "b": 2}, failure="wrong"))
    found, lines = read_landscape(path)
    assert found["kind"] == "landscape" and "exploration" in found["note"]
    assert [each["knobs"]["b"] for each in lines] == [1, 2]


@pytest.mark.parametrize(
    "head", [{"family": "other", "task_digest": "t"}, {"family": "gemm", "task_digest": "u"}]
)
def test_a_file_of_something_else_is_not_gone_on_with(head: dict[str, str], tmp_path: Path) -> None:
    Record(tmp_path / "l.jsonl", {"family": "gemm", "task_digest": "t"})
    with pytest.raises(TaskError, match="was begun with"):
        Record(tmp_path / "l.jsonl", head)


def test_suggestions_come_first_and_a_seed_settles_the_rest() -> None:
    task, family = load("l1_rmsnorm"), FAMILIES["row_norm"]
    match = family.matches(task)
    found = settings_of(family, match, task, 20, 1)
    start = [dict(knobs) for knobs in family.knobs(match).start]
    assert [each.knobs for each in found[: len(start)]] == start
    assert len({each.candidate.digest for each in found}) == len(found) == 20
    again, other = settings_of(family, match, task, 20, 1), settings_of(family, match, task, 20, 2)
    assert [e.key for e in again] == [e.key for e in found] != [e.key for e in other]


DOUBLED = make_task(
    "def run(x):\n    return x * 2\n", {"x": (["n"], "float32")}, {"y": (["n"], "float32")}, {"n": 64}
)


def solution(body: str, task: Task = DOUBLED) -> Solution:
    source = f"import os\nimport time\n\n\ndef run(x):\n    {body}\n"
    return Proposal(body, source).candidate(task, "t", Hardware.LOCAL).solution


@pytest.mark.slow
def test_settings_that_fail_in_any_way_do_not_stop_the_others(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bench_process, "_ANSWER_S", 4.0)
    with BenchProcess(DOUBLED, "cpu", "wall", tmp_path / "cache", tmp_path / "log") as bench:
        good = bench.time(solution("return x + x"), 0)
        assert good["ms"] > 0 and good["calls"] >= 5
        assert bench.time(solution("return x * 3"), 0)["failure"] == "wrong"
        raised = bench.time(solution("raise ValueError('no')"), 0)
        assert raised["failure"] == "raised" and "ValueError: no" in raised["detail"]
        assert bench.time(solution("os._exit(1)"), 0)["failure"] == "ended the process"
        assert bench.time(solution("time.sleep(60)"), 0)["failure"] == "no end"
        assert "ms" in bench.time(solution("return x + x + 0"), 0)
        assert bench.restarts == 2


def few_rows_task() -> Task:
    return TASKS["a weight of rows"].model_copy(update={"name": "few"})


def test_a_row_takes_the_fastest_setting_of_each_workload(tmp_path: Path) -> None:
    task = few_rows_task()
    row = Row("few", "import torch\n\ndef run(x, weight):\n    return x @ weight.T\n", "gemm", "any")
    uuid = task.workloads[0].uuid
    record = Record(tmp_path / "l.jsonl", {"family": "gemm", "task": "few", "task_digest": task.digest})
    record.add(line({**FEW, "block_n": 128}, uuid, ms=2.0))
    record.add(line(dict(FEW), uuid, ms=1.0))
    record.add(line({**FEW, "block_n": 64}, uuid, failure="wrong"))
    plan = "(37, 70, 96): (16, 32, 64, 4, 3, 2, False, True, 1, False),"
    chosen = ours(row, task, (tmp_path / "l.jsonl",)).solution.sources[0].content
    assert plan in chosen
    assert plan not in ours(row, task, ()).solution.sources[0].content
    assert peer_of(row, task).solution.sources[0].content == row.peer


def test_every_row_names_a_task_a_family_and_a_bar() -> None:
    for row in ROWS.values():
        assert row.bar and (row.most_ratio is not None or row.most_us is not None)
        compile(row.peer, "peer", "exec")
        if "/" not in row.task:  # the official problems are not shipped
            assert max(row.places, default=0) < len(load(row.task).workloads)
    assert GemmFamily.name == ROWS["gemm_4096"].family


@pytest.mark.parametrize(
    ("slowdown", "most_ratio", "most_us", "met"),
    [(-0.2, 0.9, None, True), (0.0, 0.9, None, False), (0.0, 1.02, 1e9, True), (0.0, 1.02, 1e-9, False)],
)
def test_a_bar_is_met_by_ratio_and_by_time(
    slowdown: float, most_ratio: float, most_us: float | None, met: bool
) -> None:
    from guard.duel_record import Shard
    from guard.figures import publish

    published = publish([Shard(header=header(), processes=records(slowdown=slowdown))])
    row = Row("t", "", "gemm", "a bar", most_ratio=most_ratio, most_us=most_us)
    verdict = _verdict(row, published)
    assert verdict["met"] is met
    assert json.dumps(verdict)
