"""Definitions that are odd, wrong or hostile: each ends in a verdict, in the definition's fault, or in ours."""

import pytest

from guard.errors import GuardBroken
from guard.judge import judge
from guard.protocol import Protocol
from guard.session import Session
from guard.staging import path_fault
from guard.verdict import ReasonCode
from tasks.candidate import Candidate
from tasks.definition import AxisVar, Definition, TensorSpec
from tasks.errors import TaskError
from tasks.task import Task
from tasks.workload import CustomInput, RandomInput, Workload
from tests.guard.cases import candidate, matmul_task

HEAD = "import os, sys, time\nimport torch\n\n\n"


def _task(reference: str, x: str = "float32", y: str = "float32", custom: str | None = None) -> Task:
    definition = Definition(
        name="odd",
        axes={"N": AxisVar()},
        inputs={"x": TensorSpec(shape=("N",), dtype=x)},
        outputs={"y": TensorSpec(shape=("N",), dtype=y)},
        reference=HEAD + reference,
        custom_inputs_entrypoint=custom,
    )
    source = CustomInput() if custom else RandomInput()
    return Task(
        name="odd",
        definition=definition,
        workloads=(Workload(axes={"N": 16}, inputs={"x": source}, uuid="w"),),
    )


def _own(task: Task) -> Candidate:
    return candidate(task, task.definition.reference)


JUDGED = {
    "outputs in float8": _task("def run(x):\n    return x.to(torch.float8_e4m3fn)\n", y="float8_e4m3fn"),
    "inputs in float4": _task("def run(x):\n    return x.view(torch.uint8).float()\n", x="float4_e2m1fn_x2"),
    "a reference that comes back twice": _task(
        "FIRST = os.getpid()\n\n\ndef run(x):\n    if os.path.basename(sys.argv[0]) == 'zygote.py' and x.numel() and"
        " not hasattr(torch, 'forked'):\n        torch.forked = True\n        os.fork()\n    return x * 2\n"
    ),
}


@pytest.mark.parametrize("name", JUDGED)
def test_an_odd_definition_is_judged(session: Session, quick: Protocol, name: str) -> None:
    plain = "import torch\n\n\ndef run(x):\n    return x * 2\n"
    task = JUDGED[name]
    verdict = judge(task, candidate(task, plain) if "twice" in name else _own(task), quick, session)
    assert verdict.status == "accepted", verdict.reason


AT_FAULT = {
    "draws at random": (_task("def run(x):\n    return torch.randn(16)\n"), "`reference`: gives other outputs"),
    "changes its inputs": (_task("def run(x):\n    return x.mul_(2) + 1\n"), "`reference`: gives other outputs"),
    "returns nothing": (_task("def run(x):\n    pass\n"), "NoneType"),
    "returns a sparse tensor": (_task("def run(x):\n    return x.to_sparse()\n"), "sparse"),
    "calls itself without end": (_task("def run(x):\n    return run(x)\n"), "RecursionError"),
    "makes no dict": (
        _task("def make(axes, device):\n    return [torch.ones(16)] * 2\n\n\ndef run(x):\n    return x\n", custom="make"),
        "'make' returned a list",
    ),
    "makes a text": (
        _task("def make(axes, device):\n    return {'x': 'text'}\n\n\ndef run(x):\n    return x\n", custom="make"),
        "custom input 'x' is <class 'str'>",
    ),
    "makes a tensor of nothing": (
        _task(
            "def make(axes, device):\n    return {'x': torch.ones(16, device='meta')}\n\n\ndef run(x):\n    return x\n",
            custom="make",
        ),
        "meta tensor",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", AT_FAULT)
def test_a_definition_at_fault_is_named_and_no_candidate_blamed(
    session: Session, quick: Protocol, name: str
) -> None:
    task, said = AT_FAULT[name]
    with pytest.raises(TaskError, match=said.replace("(", r"\(")):
        judge(task, _own(task), quick, session)


def test_a_reference_that_floods_its_output_leaves_no_log(session: Session) -> None:
    task = _task("def run(x):\n    print('x' * 10_000_000)\n    return x\n")
    session.reference(task)
    assert (session.scratch / "reference.log").stat().st_size < 100_000  # with what others' references said


def test_a_reference_that_leaves_is_no_candidates_fault(session: Session, quick: Protocol) -> None:
    task = _task("def run(x):\n    os._exit(0)\n")
    with pytest.raises(GuardBroken, match="before it was ready"):
        judge(task, _own(task), quick, session)


@pytest.mark.parametrize("name", [".", "a" * 300 + ".py", "a/" * 600 + "b.py", "a\0.py", "main.py/inside.py"])
def test_a_name_that_no_file_can_have_is_the_candidates_fault(name: str) -> None:
    given = candidate(matmul_task())
    odd = given.solution.sources[0].model_copy(update={"path": name})
    solution = given.solution.model_copy(update={"sources": (*given.solution.sources, odd)})
    reason = path_fault(given.model_copy(update={"solution": solution}))
    assert reason is not None
    assert reason.code == ReasonCode.PATH
