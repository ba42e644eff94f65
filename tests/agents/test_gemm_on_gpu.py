"""Matrix products for real GPUs: they compile for Hopper and Blackwell here, and run where there is one."""

from pathlib import Path

import pytest
import torch

from agents.templates.gemm import GemmFamily
from agents.templates.gemm.plan import class_of
from guard.cross_compile import examine
from guard.programs import Programs
from tasks.loading import load
from tasks.solution import Hardware
from tasks.task import Task
from tests.agents.small import draw, expected, imported
from tests.agents.test_gemm import TASKS, assert_close, poisoned, recognised, some_knobs

FAMILY = GemmFamily()
LIMIT = 64
"""Bytes of local memory a thread."""


def one_of_each_class(task: Task) -> Task:
    """Its largest workload of few, of some and of many rows."""
    gemm = recognised(task)
    found = {class_of(shape): place for place, shape in enumerate(gemm.shapes)}
    return task.model_copy(update={"workloads": tuple(task.workloads[place] for place in found.values())})


@pytest.mark.slow
@pytest.mark.parametrize("name", ["l1_bf16_gemm", "l1_attention_projection_residual"])
def test_default_kernels_compile_for_hopper_and_blackwell_and_hardly_spill(
    name: str, tmp_path: Path, programs: Programs
) -> None:
    task = one_of_each_class(load(name))
    gemm = recognised(task)
    candidate = FAMILY.render_table(gemm, {}).candidate(task, "template", Hardware.B200)
    reports, _ = examine(candidate, task, ("sm_90a", "sm_100a"), None, tmp_path, programs=programs)
    for report in reports:
        assert report.ok, report.error
        assert len(report.kernels) == len(task.workloads)
        assert all(kernel.spill_bytes <= LIMIT for kernel in report.kernels)


@pytest.mark.gpu
@pytest.mark.parametrize("name", TASKS)
def test_kernels_are_right_on_a_gpu(name: str, tmp_path: Path) -> None:
    task = TASKS[name]
    inputs = {key: value.cuda() for key, value in draw(task).items()}
    (truth,) = expected(task, inputs)
    for knobs in some_knobs(recognised(task), 30):
        proposal = FAMILY.render(recognised(task), knobs)
        (output,) = (output.cuda() for output in poisoned(task))
        module = imported(proposal.candidate(task, "template", Hardware.B200), tmp_path)
        for _ in range(2):
            module.run(*inputs.values(), output)
            assert_close(output, truth, proposal.strategy)
            output.fill_(float("nan"))


@pytest.mark.gpu
def test_parts_are_right_on_two_streams_at_once(tmp_path: Path) -> None:
    task = TASKS["a weight of rows"]
    gemm = recognised(task)
    knobs = next(k for k in FAMILY.knobs(gemm).settings() if k["parts"] == 4)
    module = imported(FAMILY.render(gemm, knobs).candidate(task, "template", Hardware.B200), tmp_path)
    inputs = {key: value.cuda() for key, value in draw(task).items()}
    (truth,) = expected(task, inputs)
    streams = [torch.cuda.Stream() for _ in range(2)]
    outputs = [poisoned(task)[0].cuda() for _ in range(40)]
    torch.cuda.synchronize()
    for place, output in enumerate(outputs):
        with torch.cuda.stream(streams[place % 2]):
            module.run(*inputs.values(), output)
    torch.cuda.synchronize()
    for output in outputs:
        assert_close(output, truth, "streams")
