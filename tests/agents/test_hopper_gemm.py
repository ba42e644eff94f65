"""The CUDA matrix product: what it takes on, what it is made of, and that it compiles for Hopper without spilling."""

from dataclasses import replace
from pathlib import Path

import pytest

from agents.templates import EVERY_FAMILY, FAMILIES
from agents.templates.gemm import Gemm
from agents.templates.hopper_gemm import HopperGemmFamily
from guard.cross_compile.cuda_sources import compile_sources, find_nvcc
from guard.languages.cpp import _check_flags
from tasks.candidate import Candidate
from tasks.gpu import gpu_of_target
from tasks.loading import load
from tasks.solution import Hardware, Language
from tasks.task import Task
from tests.agents.test_gemm import NOT_PRODUCTS, TASKS

FAMILY = HopperGemmFamily()
needs_nvcc = pytest.mark.skipif(find_nvcc() is None, reason="there is no nvcc on this machine")


def matched(task: Task) -> Gemm:
    gemm = FAMILY.matches(task)
    assert gemm is not None
    return gemm


def first(name: str, target: Hardware = Hardware.LOCAL) -> Candidate:
    task = load(name)
    return FAMILY.render(matched(task), FAMILY.knobs(matched(task)).start[0]).candidate(
        task, "hopper", target
    )


def test_it_takes_products_with_at_most_a_residual() -> None:
    assert matched(load("l1_bf16_gemm")).tiles == ()
    assert matched(load("l1_attention_projection_residual")).tiles == ("stream",)


@pytest.mark.parametrize(
    "name", [name for name in TASKS if name not in ("a weight of rows", "a residual after rounding")]
)
def test_other_products_are_left_to_other_families(name: str) -> None:
    assert FAMILY.matches(TASKS[name]) is None


def test_sizes_that_are_no_multiples_of_16_bytes_are_left_to_other_families() -> None:
    assert FAMILY.matches(TASKS["a weight of rows"]) is None  # 70 columns
    assert all(FAMILY.matches(task) is None for task in NOT_PRODUCTS.values())


def test_agents_are_not_asked_for_what_a_cpu_cannot_judge() -> None:
    assert FAMILY.name in EVERY_FAMILY and FAMILY.name not in FAMILIES


def test_the_candidate_is_a_cpp_solution_whose_flags_name_the_target() -> None:
    candidate = first("l1_bf16_gemm")
    spec = candidate.solution.spec
    assert spec.is_cpp and spec.languages == (Language.CUDA_CPP,) and spec.entry_point == "binding.cpp::run"
    assert {source.path for source in candidate.solution.sources} == {
        "binding.cpp",
        "kernel.cu",
        "few.cu",
        "kernel.h",
    }
    _check_flags(candidate)
    assert (
        spec.compile_options is not None
        and "-gencode=arch=compute_90a,code=sm_90a" in spec.compile_options.cuda_cflags
    )
    other = first("l1_bf16_gemm", Hardware.B200).solution.spec.compile_options
    assert other is not None and any("sm_100a" in flag for flag in other.cuda_cflags)


def test_one_kernel_is_turned_at_a_time_and_everything_fits() -> None:
    gemm = matched(load("l1_bf16_gemm"))
    space = FAMILY.knobs(gemm)
    settings = list(space.settings())
    assert 40 < len(settings) < 120 and all(dict(knobs) in settings for knobs in space.start)
    for knobs in settings:
        assert int(knobs["stages"]) * (128 + int(knobs["width"])) * 128 + 32768 + 1024 <= 227 * 1024
    only_few = FAMILY.knobs(replace(gemm, shapes=((8, 512, 512),)))
    assert {knobs["rows"] for knobs in only_few.settings()} == {"few"}


@needs_nvcc
@pytest.mark.slow
def test_it_compiles_for_hopper_without_spilling(tmp_path: Path) -> None:
    candidate = first("l1_attention_projection_residual")
    for source in candidate.solution.sources:
        (tmp_path / source.path).write_text(source.content)
    report = compile_sources(candidate.solution, tmp_path, gpu_of_target("sm_90a"), 120)
    assert report.ok, report.error
    assert all(kernel.spill_bytes <= 64 for kernel in report.kernels)
    assert any("product" in kernel.name for kernel in report.kernels)
    assert sum("few_rows" in kernel.name for kernel in report.kernels) == 4
