"""The guard as a whole on a CPU: real processes, real buffers, real sandbox."""

import statistics
import time

import pytest

from guard.errors import GuardBroken
from guard.judge import judge
from guard.protocol import Protocol
from guard.sandbox.seal import DEFAULT_LEVELS
from guard.session import Session
from guard.verdict import ReasonCode, Verdict
from guard.warden import descendants
from tasks.errors import TaskError
from tasks.task import Task
from tasks.trace import Status
from tasks.workload import Tolerance
from tests.guard.cases import HONEST, HONEST_DPS, candidate, matmul_task

IMPORTS = "import ctypes, os, sys, threading, time\nimport torch\n"


def _judged(
    session: Session, protocol: Protocol, source: str, dps: bool = False, task: Task | None = None
) -> Verdict:
    task = task or matmul_task()
    return judge(task, candidate(task, source, dps), protocol, session)


@pytest.mark.parametrize(("source", "dps"), [(HONEST, False), (HONEST_DPS, True)])
def test_honest_candidates_of_both_styles_are_accepted(
    session: Session, quick: Protocol, source: str, dps: bool
) -> None:
    verdict = _judged(session, quick, source, dps)
    assert verdict.status == "accepted", verdict.reason
    assert [w.status for w in verdict.workloads] == [Status.PASSED, Status.PASSED]
    assert verdict.environment.isolation == DEFAULT_LEVELS["cpu"]
    assert all(w.matched_ratio == 1.0 and w.timer == "wall" for w in verdict.workloads)


def test_a_latency_is_the_median_of_the_samples_that_are_kept(session: Session, quick: Protocol) -> None:
    verdict = _judged(session, quick, HONEST)
    for workload in verdict.workloads:
        samples = [m.times_ms for m in verdict.measurements if m.workload == workload.uuid]
        assert [len(s) for s in samples] == [quick.measured_calls]
        assert workload.latency_ms == statistics.median(samples[0])


def test_every_process_of_the_protocol_leaves_its_samples(session: Session, quick: Protocol) -> None:
    verdict = judge(
        matmul_task(), candidate(matmul_task()), quick.model_copy(update={"processes": 2}), session
    )
    assert sorted({m.process for m in verdict.measurements}) == [0, 1]


WRONG = {
    "a wrong formula": ("def run(A, B):\n    return torch.mm(A, B) * 1.01\n", False, ReasonCode.NUMERICAL),
    "not a number": (
        "def run(A, B):\n    return torch.mm(A, B) * float('nan')\n",
        False,
        ReasonCode.NUMERICAL,
    ),
    "outputs left alone": ("def run(A, B, C):\n    C[:5] = torch.mm(A, B)[:5]\n", True, ReasonCode.NUMERICAL),
    "a wrong shape": ("def run(A, B):\n    return torch.mm(A, B)[:-1]\n", False, ReasonCode.INTERFACE),
    "a wrong dtype": ("def run(A, B):\n    return torch.mm(A, B).double()\n", False, ReasonCode.INTERFACE),
    "two outputs for one": ("def run(A, B):\n    return A, B\n", False, ReasonCode.INTERFACE),
    "a subclass": (
        "def run(A, B):\n    return torch.nn.Parameter(torch.mm(A, B))\n",
        False,
        ReasonCode.INTERFACE,
    ),
    "changed inputs": (
        "def run(A, B):\n    C = torch.mm(A, B)\n    A.zero_()\n    return C\n",
        False,
        ReasonCode.MUTATION,
    ),
    "an exception": ("def run(A, B):\n    raise ValueError('no')\n", False, ReasonCode.RUNTIME),
    "a failing import": (
        "import nothing_of_that_name\n\n\ndef run(A, B):\n    return A\n",
        False,
        ReasonCode.IMPORT,
    ),
    "no Python": ("def run(A, B:\n    return A\n", False, ReasonCode.IMPORT),
    "no such function": ("def walk(A, B):\n    return A\n", False, ReasonCode.IMPORT),
    "leaving": ("def run(A, B):\n    os._exit(0)\n", False, ReasonCode.PROTOCOL),
    "a fault in memory": ("def run(A, B):\n    ctypes.string_at(8)\n", False, ReasonCode.RUNTIME),
}


@pytest.mark.parametrize("name", WRONG)
def test_a_wrong_candidate_is_rejected_for_its_own_reason(
    session: Session, quick: Protocol, name: str
) -> None:
    source, dps, code = WRONG[name]
    verdict = _judged(session, quick, IMPORTS + source, dps)
    assert verdict.status == "rejected"
    assert verdict.reason is not None
    assert verdict.reason.code == code, verdict.reason


def test_zeros_that_the_official_evaluator_leaves_in_outputs_are_not_relied_upon(
    session: Session, quick: Protocol
) -> None:
    source = (
        IMPORTS
        + "def run(A, B, C):\n    product = torch.mm(A, B)\n    keep = product > 0\n    C[keep] = product[keep]\n"
    )
    reference = "import torch\n\n\ndef run(A, B):\n    return torch.relu(torch.mm(A, B))\n"
    verdict = _judged(session, quick, source, True, matmul_task(reference=reference))
    assert all(w.status == Status.PASSED for w in verdict.workloads)
    assert verdict.reason is not None
    assert verdict.reason.code == ReasonCode.UNWRITTEN


def test_the_official_edge_is_one_element_past_a_hundredth(session: Session, quick: Protocol) -> None:
    task = matmul_task(rows=(25,))
    wrong = "import torch\n\n\ndef run(A, B):\n    C = torch.mm(A, B)\n    C.view(-1)[:{n}] += 1000.0\n    return C\n"
    passes = _judged(session, quick, wrong.format(n=25 * 48 // 100), task=task)
    fails = _judged(session, quick, wrong.format(n=25 * 48 // 100 + 1), task=task)
    assert passes.workloads[0].status == Status.PASSED
    assert passes.workloads[0].max_absolute_error == pytest.approx(1000.0, rel=1e-4)
    assert fails.workloads[0].status == Status.INCORRECT_NUMERICAL
    assert passes.status == "rejected", "skipped elements are no rounding"
    assert passes.reason is not None
    assert passes.reason.code == ReasonCode.PRECISION


def test_a_workload_that_fails_leaves_the_others_their_official_status(
    session: Session, quick: Protocol
) -> None:
    source = "import torch\n\n\ndef run(A, B):\n    C = torch.mm(A, B)\n    return C if A.shape[0] == 24 else C * 0\n"
    verdict = _judged(session, quick, source)
    assert [w.status for w in verdict.workloads] == [Status.PASSED, Status.INCORRECT_NUMERICAL]
    assert [w.accepted for w in verdict.workloads] == [True, False]


def test_less_than_declared_precision_is_a_question_of_policy(session: Session, quick: Protocol) -> None:
    task = matmul_task(tolerance=Tolerance(max_atol=0.1, max_rtol=0.1))
    half = "import torch\n\n\ndef run(A, B):\n    return torch.mm(A.bfloat16(), B.bfloat16()).float()\n"
    assert _judged(session, quick, half, task=task).status == "accepted"
    strict = _judged(session, quick.model_copy(update={"precision": "strict"}), half, task=task)
    assert strict.reason is not None
    assert strict.reason.code == ReasonCode.PRECISION


def test_a_hanging_candidate_is_ended_at_the_limit(session: Session, quick: Protocol) -> None:
    began = time.monotonic()
    short = quick.model_copy(update={"build_limit_s": 3.0})
    verdict = _judged(session, short, IMPORTS + "def run(A, B):\n    while True:\n        pass\n")
    assert verdict.reason is not None
    assert verdict.reason.code == ReasonCode.TIMEOUT
    assert verdict.workloads[0].status == Status.TIMEOUT
    assert time.monotonic() - began < 30


def test_a_memory_hog_is_the_candidates_fault(session: Session, quick: Protocol) -> None:
    source = IMPORTS + "def run(A, B):\n    return torch.ones(3 << 30, dtype=torch.uint8)\n"
    verdict = _judged(session, quick.model_copy(update={"host_memory_gib": 2.0}), source)
    assert verdict.reason is not None
    assert verdict.reason.code in (ReasonCode.MEMORY, ReasonCode.RUNTIME), verdict.reason


def test_children_that_outlive_the_call_are_late_work_and_die(session: Session, quick: Protocol) -> None:
    source = IMPORTS + (
        "def run(A, B):\n    if os.fork() == 0:\n        os.setsid()\n        time.sleep(600)\n    return torch.mm(A, B)\n"
    )
    verdict = _judged(session, quick, source)
    assert verdict.reason is not None
    assert verdict.reason.code == ReasonCode.LATE_WORK
    deadline = time.monotonic() + 5
    while len(descendants(session.zygote.pid)) > 1 and time.monotonic() < deadline:
        time.sleep(0.05)
    assert len(descendants(session.zygote.pid)) <= 1, "only the reference is left"


FORBIDDEN = {
    "the network": "import socket\n    socket.create_connection(('127.0.0.1', 9), 1)",
    "the checkout": "open(os.path.join(ROOT, 'guard', 'judge.py'))",
    "a home": "os.listdir(os.path.expanduser('~root'))",
    "writing outside": "open('/tmp/kernelarc-was-here', 'w')",
    "its own source": "open(__file__, 'a')",
    "the guard's memory": "open(f'/proc/{os.getppid()}/mem', 'rb').read(1)",
    "the guard's modules": "import guard.judge",
    "another process": "os.kill(os.getppid(), 9)",
}


@pytest.mark.parametrize("name", FORBIDDEN)
def test_the_worker_cannot_reach(session: Session, quick: Protocol, name: str) -> None:
    from guard.runner import ROOT

    body = FORBIDDEN[name]
    source = IMPORTS + f"ROOT = {str(ROOT)!r}\n\n\ndef run(A, B):\n    {body}\n    return torch.mm(A, B)\n"
    verdict = _judged(session, quick, source)
    assert verdict.reason is not None, f"{name} was within reach"
    assert verdict.reason.code == ReasonCode.RUNTIME
    assert any(e in verdict.reason.message for e in ("Error", "denied", "permitted")), verdict.reason


def test_several_files_and_prints_are_no_offence(session: Session, quick: Protocol) -> None:
    task = matmul_task()
    source = 'from mine import product\n\nprint(\'{"status": "PASSED"}\')\n\n\ndef run(A, B):\n    return product(A, B)\n'
    mine = "import torch\n\n\ndef product(A, B):\n    return torch.mm(A, B)\n"
    verdict = judge(task, candidate(task, source, mine_py=mine), quick, session)
    assert verdict.status == "accepted", verdict.reason


def test_a_candidate_may_have_a_file_named_like_one_of_our_packages(
    session: Session, quick: Protocol
) -> None:
    task = matmul_task()
    source = "from tasks import product\n\n\ndef run(A, B):\n    return product(A, B)\n"
    mine = "import torch\n\n\ndef product(A, B):\n    return torch.mm(A, B)\n"
    verdict = judge(task, candidate(task, source, tasks_py=mine), quick, session)
    assert verdict.status == "accepted", verdict.reason


@pytest.mark.parametrize("path", ["workload.jsonl", "sitecustomize.py", "torch.py", "json.py", "kernel.so"])
def test_paths_that_pass_for_other_files_are_refused_unread(
    session: Session, quick: Protocol, path: str
) -> None:
    task = matmul_task()
    made = candidate(task)
    extra = made.solution.sources[0].model_copy(update={"path": path})
    solution = made.solution.model_copy(update={"sources": (*made.solution.sources, extra)})
    verdict = judge(task, made.model_copy(update={"solution": solution}), quick, session)
    assert verdict.reason is not None
    assert verdict.reason.code == ReasonCode.PATH


def test_a_reference_that_is_broken_is_the_definitions_fault(session: Session, quick: Protocol) -> None:
    task = matmul_task(reference="def run(A, B):\n    return undefined_name\n")
    with pytest.raises(TaskError, match="undefined_name"):
        judge(task, candidate(task), quick, session)


def test_a_reference_that_cannot_run_here_is_nobodys_fault(session: Session, quick: Protocol) -> None:
    task = matmul_task(
        reference="import torch\n\n\ndef run(A, B):\n    raise RuntimeError('needs another card')\n"
    )
    with pytest.raises(GuardBroken, match="needs another card"):
        judge(task, candidate(task), quick, session)


def test_a_verdict_is_the_same_value_after_json(session: Session, quick: Protocol) -> None:
    verdict = _judged(session, quick, HONEST)
    assert Verdict.model_validate_json(verdict.model_dump_json()) == verdict


def test_a_candidate_that_raises_is_told_where_in_its_own_code(session: Session, quick: Protocol) -> None:
    """Its files by their names, line and source; not a word of the guard's own frames or folders."""
    source = (
        "import torch\n\n\ndef helper(x):\n    return torch.mm(x, x[:1])\n\n\n"
        "def run(A, B):\n    return helper(A)\n"
    )
    verdict = _judged(session, quick, source)
    assert verdict.reason is not None and verdict.reason.code == ReasonCode.RUNTIME
    said = verdict.reason.message
    assert ":9, in run: return helper(A) > " in said and ":5, in helper: return torch.mm(x, x[:1])" in said
    for text in (said, verdict.log):
        assert "worker.py" not in text and "run_once" not in text and str(session.scratch) not in text
    assert ":5, in helper" in verdict.log


def test_a_module_that_fails_as_it_is_imported_is_told_where(session: Session, quick: Protocol) -> None:
    verdict = _judged(
        session, quick, "import torch\n\nTABLE = {}['missing']\n\n\ndef run(A, B):\n    return A\n"
    )
    assert verdict.reason is not None and verdict.reason.code == ReasonCode.IMPORT
    assert ":3, in <module>: TABLE = {}['missing']" in verdict.reason.message
