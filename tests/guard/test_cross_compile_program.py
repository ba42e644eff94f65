"""The sandboxed program that examines candidates, as other packages call it."""

import os
import time
from pathlib import Path

import pytest

from guard.compile_report import CompileReport
from guard.cross_compile import cross_compile, examine, predict
from guard.cross_compile.cuda_sources import find_nvcc
from guard.programs import Programs
from guard.warden import at_work, descendants
from tasks.candidate import Candidate
from tasks.definition import Definition
from tasks.errors import TaskError
from tasks.gpu import FOLDER
from tasks.task import Task
from tasks.workload import Workload
from tests.fakes import gpu_kernels as kernels
from tests.fakes.follow import ADD, NORM, PRODUCT, solution, workload

pytest.importorskip("triton")


def task_of(definition: Definition, *workloads: Workload) -> Task:
    return Task(name="problem", definition=definition, workloads=workloads)


def candidate_of(source: str, language: str, definition: Definition) -> Candidate:
    return Candidate(solution=solution(source, language), definition_digest=definition.digest)


def test_one_run_compiles_for_every_target_and_predicts_for_one_gpu(
    tmp_path: Path, programs: Programs
) -> None:
    task = task_of(NORM, workload(NORM, rows=4096, width=4096), workload(NORM, rows=1, width=128))
    candidate = candidate_of(kernels.ROW_NORM, "triton", NORM)
    reports, prediction = examine(candidate, task, ("sm_90a", "sm_100a"), "B200", tmp_path, programs=programs)
    assert [(report.target, report.ok) for report in reports] == [("sm_90a", True), ("sm_100a", True)]
    assert prediction is not None and prediction.hardware == "B200"
    assert [one.uuid for one in prediction.workloads] == [w.uuid for w in task.workloads]
    assert prediction.workloads[0].predicted_ms > prediction.workloads[1].predicted_ms > 0
    assert list(tmp_path.iterdir()) == []  # nothing is left behind


def test_a_forked_program_answers_what_a_started_one_answers(tmp_path: Path, programs: Programs) -> None:
    task = task_of(NORM, workload(NORM, rows=4096, width=4096))
    for source, language in (
        (kernels.ROW_NORM, "triton"),
        (kernels.ROW_NORM.replace("tl.sum", "tl.sun"), "triton"),
    ):
        candidate = candidate_of(source, language, NORM)
        started, forked = (
            examine(candidate, task, ("sm_100a",), "B200", tmp_path, programs=given)
            for given in (None, programs)
        )
        assert _without_seconds(started[0]) == _without_seconds(forked[0])
        assert started[1] == forked[1] and list(tmp_path.iterdir()) == []


def _without_seconds(reports: tuple[CompileReport, ...]) -> list[CompileReport]:
    return [report.model_copy(update={"seconds": 0.0}) for report in reports]


@pytest.mark.parametrize("is_forked", [False, True])
def test_a_candidate_that_ends_its_process_gets_a_report(
    tmp_path: Path, programs: Programs, is_forked: bool
) -> None:
    source = "import os\ndef run(x, y):\n    os._exit(7)\n"
    task = task_of(ADD, workload(ADD, n=64))
    candidate = candidate_of(source, "pytorch", ADD)
    (report,), _ = examine(
        candidate, task, ("sm_100a",), None, tmp_path, programs=programs if is_forked else None
    )
    assert not report.ok and not report.refused and "gave no answer: ended with 7" in report.error


@pytest.mark.parametrize("is_forked", [False, True])
def test_a_candidate_that_never_ends_gets_a_report_in_time(
    tmp_path: Path, programs: Programs, is_forked: bool
) -> None:
    source = "def run(x, y):\n    while True:\n        pass\n"
    task = task_of(ADD, workload(ADD, n=64))
    candidate = candidate_of(source, "pytorch", ADD)
    (report,), prediction = examine(
        candidate, task, ("sm_90a",), "H200", tmp_path, limit_s=2, programs=programs if is_forked else None
    )
    assert "within 2 s" in report.error and prediction is not None and prediction.workloads == ()
    assert "gave no answer" in prediction.note


def test_what_a_forked_program_starts_ends_with_it(tmp_path: Path, programs: Programs) -> None:
    """A grandchild with a session of its own is no way out, and the next program is forked as if nothing was."""
    source = (
        "import os, time\n"
        "def run(x, y):\n"
        "    if os.fork() == 0:\n        os.setsid()\n        time.sleep(600)\n"
        "    raise SystemExit(3)\n"
    )
    task = task_of(ADD, workload(ADD, n=64))
    before = set(descendants(os.getpid()))
    for _ in range(2):
        (report,), _ = examine(
            candidate_of(source, "pytorch", ADD), task, ("sm_90a",), None, tmp_path, programs=programs
        )
        assert "SystemExit" in report.error
    deadline = time.monotonic() + 5
    while set(at_work(descendants(os.getpid()))) - before and time.monotonic() < deadline:
        time.sleep(0.02)
    assert not set(at_work(descendants(os.getpid()))) - before


def test_a_candidate_that_looks_at_values_is_followed_on_a_small_workload(tmp_path: Path) -> None:
    source = "def run(x, y):\n    return x + y if x.sum().item() < 1e9 else x\n"
    full, small = workload(ADD, n=2**20), workload(ADD, n=2**10)
    candidate = candidate_of(source, "pytorch", ADD)
    prediction = predict(candidate, task_of(ADD, full), "H200", tmp_path, {full.uuid: small})
    assert [one.uuid for one in prediction.workloads] == [full.uuid] and "scaled" in prediction.note


def test_a_target_that_nobody_knows_is_the_callers_mistake(tmp_path: Path) -> None:
    task = task_of(ADD, workload(ADD, n=64))
    with pytest.raises(TaskError, match=r"sm_12.*use one of"):
        cross_compile(candidate_of("x = 1", "pytorch", ADD), task, "sm_12", tmp_path)


@pytest.mark.skipif(find_nvcc() is None, reason="there is no nvcc on this machine")
def test_cuda_sources_are_predicted_from_what_the_task_asks_on_a_gpu_of_ones_own(tmp_path: Path) -> None:
    own = tmp_path / "mine.yaml"
    own.write_text((FOLDER / "H200.yaml").read_text().replace("name: H200", "name: Mine"))
    task = task_of(PRODUCT, workload(PRODUCT, m=4096, n=4096, k=4096))
    candidate = candidate_of(kernels.CUDA_ADD, "cuda_cpp", PRODUCT)
    prediction = predict(candidate, task, str(own), tmp_path / "scratch")
    assert prediction.hardware == "Mine" and "not seen" in prediction.note
    (one,) = prediction.workloads
    assert one.flops == 2 * 4096**3 and one.bytes == 3 * 2 * 4096**2 and one.bound_by == "compute"
    assert prediction.total_ms == one.predicted_ms > 0
