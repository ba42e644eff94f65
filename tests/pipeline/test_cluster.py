"""Judging on other nodes: a real scheduler and two worker processes, the same verdicts, and nothing paid twice."""

import json
import os
import signal
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from click.testing import CliRunner

from guard.errors import GuardBroken
from guard.protocol import SEARCH, SMOKE
from pipeline.cli import main
from pipeline.cluster import Lane, open_lane
from pipeline.cluster.lane import Kind, choose_kind
from pipeline.ledger import Amounts, Ledger
from pipeline.progress import Silent
from pipeline.run_folder import JOURNAL, Outcome, Run
from pipeline.search import Judge, Search
from tasks.candidate import Candidate
from tasks.errors import TaskError
from tests.fakes.agents import Climber, ListAgent
from tests.fakes.cluster import LOG, faked
from tests.fakes.run_search import BUDGET, LISTED, header
from tests.fakes.task import candidate, doubling_task

distributed = pytest.importorskip("distributed", reason="Dask is not installed (extra cluster)")

pytestmark = [
    pytest.mark.filterwarnings("ignore::Warning"),  # of Dask's own, when nodes come and go
    pytest.mark.timeout(180),
]
TASK = doubling_task()
CANDIDATES = 30


@pytest.fixture(scope="module")
def log(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("cluster") / "judged"


@pytest.fixture(scope="module")
def lane(log: Path) -> Iterator[Lane]:
    """Two nodes on this machine, which give a candidate up after the second that is lost under it."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("pipeline.cluster.lane.NODES_LOST", 2)
        patch.setenv(LOG, str(log))
        with open_lane("local:2", TASK, "cpu", judge=faked) as opened:
            yield opened


@pytest.fixture(autouse=True)
def empty_log(log: Path) -> None:
    log.write_text("")


def many(what: str = "") -> list[Candidate]:
    behaviours = (
        f"accepted {1 + n / 8} {what}" if n % 5 else f"rejected numerical {n} {what}"
        for n in range(CANDIDATES)
    )
    return [candidate(behaviour, TASK) for behaviour in behaviours]


def judged(log: Path) -> list[tuple[str, str]]:
    """Process and candidate of every judgement that was begun."""
    return [(line.split()[0], line.split()[1]) for line in log.read_text().splitlines()]


def test_thirty_candidates_have_the_same_verdicts_as_here(lane: Lane, log: Path) -> None:
    assert lane.kind.nodes == 2
    candidates = many("sleeps 0.05")  # long enough that one node cannot have done it all
    ledger = Ledger({"candidates": CANDIDATES})
    found = []
    for one, verdict in zip(candidates, lane.judge_all(candidates, SMOKE), strict=True):
        ledger.charge(one.digest, Amounts(candidates=1))
        found.append(verdict)
    assert sorted(digest for _, digest in judged(log)) == sorted(c.digest for c in candidates)
    assert len({process for process, _ in judged(log)}) == 2
    assert ledger.left("candidates") == 0
    assert [v.digest for v in found] == [faked(TASK, c, SMOKE, "cpu", "auto").digest for c in candidates]


def test_asking_twice_judges_once(lane: Lane, log: Path) -> None:
    one = candidate("accepted 1 sleeps 0.2 asked twice", TASK)
    both = list(lane.judge_all([one, one], SMOKE))
    assert both[0] == both[1] and len(judged(log)) == 1
    other = SMOKE.model_copy(update={"timed_calls": 7})
    assert lane.judge(one, other).protocol_digest == other.digest


def test_a_node_that_is_killed_loses_no_candidate_and_charges_none_twice(lane: Lane, log: Path) -> None:
    candidates = many("sleeps 0.05 killed")
    ledger = Ledger({"candidates": CANDIDATES})
    killed: list[int] = []

    def kill() -> None:
        while len(judged(log)) < 6:
            time.sleep(0.01)
        killed.append(int(judged(log)[-1][0]))
        os.kill(killed[0], signal.SIGKILL)

    killer = threading.Thread(target=kill)
    killer.start()
    found = []
    for one, verdict in zip(candidates, lane.judge_all(candidates, SMOKE), strict=True):
        ledger.reserve(one.digest, Amounts(candidates=1))
        ledger.settle(one.digest, Amounts(candidates=1))
        found.append(verdict)
    killer.join()
    assert [v.candidate_digest for v in found] == [c.digest for c in candidates]
    assert ledger.left("candidates") == 0
    begun = [digest for _, digest in judged(log)]
    assert set(begun) == {c.digest for c in candidates} and killed
    # what the lost node was at, or held the answer of, was judged again, and nothing else
    assert len(begun) <= 2 * CANDIDATES


def test_a_candidate_under_which_nodes_are_lost_is_the_machines_fault(lane: Lane) -> None:
    with pytest.raises(GuardBroken, match="nodes were lost under one candidate"):
        lane.judge(candidate("ends the node", TASK), SMOKE)
    assert lane.judge(candidate("accepted 3 after it", TASK), SMOKE).status == "accepted"


def test_a_broken_guard_and_a_faulty_task_are_told_apart(lane: Lane) -> None:
    with pytest.raises(GuardBroken, match="told to break"):
        lane.judge(candidate("broken", TASK), SMOKE)
    with pytest.raises(TaskError, match="no task for this test"):
        lane.judge(candidate("wrong task", TASK), SMOKE)


def test_a_search_writes_the_same_journal_as_here(lane: Lane, tmp_path: Path) -> None:
    def searched(folder: Path, judge: Judge) -> list[tuple[object, ...]]:
        with Run.create(folder, header()) as run:
            agents = {"listed": ListAgent("listed", LISTED), "climber": Climber()}
            Search(run=run, judge=judge, progress=Silent(), by_measurement=True, agents=agents).go(BUDGET)
        lines = (run.folder / JOURNAL).read_text().splitlines()[1:]
        events = [json.loads(line) for line in lines]
        return [
            tuple(e.get(k) for k in ("event", "agent", "candidate", "status", "latency_ms")) for e in events
        ]

    there = searched(tmp_path / "a", lambda c: Outcome(candidate=c, verdict=lane.judge(c, SEARCH)))
    here = searched(
        tmp_path / "b", lambda c: Outcome(candidate=c, verdict=faked(TASK, c, SEARCH, "cpu", "auto"))
    )
    assert there == here and len(here) > BUDGET


def test_the_guard_itself_judges_on_a_node(lane: Lane) -> None:
    from pipeline.cluster.node import guarded

    real = Lane(lane._client, TASK, lane.kind, judge=guarded)
    right, wrong = candidate("right", TASK), candidate("wrong", TASK)
    source = wrong.solution.sources[0]
    changed = source.model_copy(update={"content": source.content.replace("x * 2", "x * 3")})
    wrong = wrong.model_copy(update={"solution": wrong.solution.model_copy(update={"sources": (changed,)})})
    found = list(real.judge_all([right, wrong], SMOKE))
    assert [v.status for v in found] == ["accepted", "rejected"]
    assert found[0].environment.device == lane.kind.name


def test_kinds_of_device_are_kept_apart() -> None:
    h200, b200, cpu = Kind("NVIDIA H200", 2), Kind("NVIDIA B200", 1), Kind("AMD EPYC", 4)
    assert choose_kind([cpu, h200], "auto") == h200
    assert choose_kind([cpu, h200], "cpu") == cpu
    with pytest.raises(TaskError, match="NVIDIA H200, NVIDIA B200"):
        choose_kind([cpu, h200, b200], "cuda")
    with pytest.raises(GuardBroken, match="no node offers cuda"):
        choose_kind([cpu], "cuda")


@pytest.mark.parametrize(
    ("where", "error"), [("head:8786", TaskError), ("local:99", TaskError), ("local:x", TaskError)]
)
def test_a_wrong_address_is_named(where: str, error: type[Exception]) -> None:
    with pytest.raises(error), open_lane(where, TASK, "cpu"):
        pass


def test_nobody_at_the_address_is_the_machines_fault(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pipeline.cluster.lane._MOST_SECONDS_TO_CONNECT", 0.5)
    with (
        pytest.raises(GuardBroken, match="no scheduler answers"),
        open_lane("tcp://127.0.0.1:9", TASK, "cpu"),
    ):
        pass


def test_a_job_of_submitit_joins_the_scheduler_and_ends_with_it(tmp_path: Path) -> None:
    pytest.importorskip("submitit", reason="submitit is not installed (extra cluster)")
    from pipeline.cluster.slurm import launch

    with distributed.LocalCluster(n_workers=0, dashboard_address=None, silence_logs=50) as cluster:
        (job,) = launch(cluster.scheduler_address, 1, tmp_path, device="cpu", engine="local", minutes=2)
        with distributed.Client(cluster) as client:
            client.wait_for_workers(1, timeout=60)
            with open_lane(cluster.scheduler_address, TASK, "cpu", judge=faked) as joined:
                assert joined.judge(candidate("accepted 2", TASK), SMOKE).status == "accepted"
    assert job.result()  # the device's name, when the scheduler has ended


def test_slurm_that_is_not_here_is_bad_input(tmp_path: Path) -> None:
    pytest.importorskip("submitit", reason="submitit is not installed (extra cluster)")
    done = CliRunner().invoke(main, ["worker", "tcp://127.0.0.1:9", "--slurm", "2", "--logs", str(tmp_path)])
    assert done.exit_code == 2 and "no job could be submitted" in done.stderr


@pytest.mark.bench
def test_two_nodes_judge_half_as_much_again_as_one() -> None:
    seconds = []
    for nodes in (1, 2):
        with open_lane(f"local:{nodes}", TASK, "cpu", judge=faked) as lane:
            list(lane.judge_all([candidate(f"works warm {n}", TASK) for n in range(4)], SMOKE))
            began = time.perf_counter()
            list(lane.judge_all([candidate(f"works {n}", TASK) for n in range(40)], SMOKE))
            seconds.append(time.perf_counter() - began)
    print(f"\none node {seconds[0]:.1f} s, two {seconds[1]:.1f} s: x {seconds[0] / seconds[1]:.2f}")  # noqa: T201
    assert seconds[0] / seconds[1] >= 1.5
