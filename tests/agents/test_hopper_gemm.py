"""The CUDA matrix product: what it takes on, what it is made of, and that it compiles for Hopper without spilling."""

import ctypes
import shutil
from dataclasses import replace
from pathlib import Path

import pytest
import torch

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
from tests.agents import emulated_cuda, emulated_hopper
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


needs_compiler = pytest.mark.skipif(
    shutil.which("g++") is None, reason="there is no C++ compiler on this machine"
)


def assert_right(library: Path, m: int, n: int, k: int, has_residual: bool) -> None:
    generator = torch.Generator().manual_seed(m)
    shapes = ((m, k), (n, k), (m, n))
    rows, weight, residual = (torch.randn(shape, generator=generator).bfloat16() for shape in shapes)
    result = torch.full((m, n), float("nan"), dtype=torch.bfloat16)
    tensors = (rows, weight, residual if has_residual else None, result)
    given = [None if t is None else ctypes.c_void_p(t.data_ptr()) for t in tensors]
    ctypes.CDLL(str(library)).run(*given, m, n, k)
    truth = rows @ weight.T + residual if has_residual else rows @ weight.T
    assert torch.allclose(result.float(), truth.float(), rtol=2**-6, atol=2**-6 * k**0.5), (m, n, k)


@pytest.mark.slow
@needs_compiler
def test_few_rows_are_multiplied_right_lane_by_lane(tmp_path: Path) -> None:
    """Sizes that are no multiples of a tile, and a row count for each variant."""
    gemm = matched(load("l1_attention_projection_residual"))
    knobs = {**FAMILY.knobs(gemm).start[1], "warps": 2, "ahead": 2}
    assert knobs["rows"] == "few"
    library = emulated_cuda.build(dict(FAMILY.render(gemm, knobs).files)["few.cu"], tmp_path)
    for m, n, k in ((1, 24, 200), (9, 40, 64), (17, 16, 8), (33, 8, 328)):
        for has_residual in (True, False):
            assert_right(library, m, n, k, has_residual)


@pytest.mark.slow
@pytest.mark.timeout(120)  # a wrong parity hangs
@needs_compiler
@pytest.mark.parametrize(("name", "cluster"), [("l1_attention_projection_residual", 2), ("l1_bf16_gemm", 1)])
def test_many_rows_are_multiplied_right_lane_by_lane(name: str, cluster: int, tmp_path: Path) -> None:
    """Several tiles a block, more steps than stages, and edges in every direction."""
    gemm = matched(load(name))
    knobs = {**FAMILY.knobs(gemm).start[0], "width": 192, "stages": 3, "cluster": cluster}
    assert knobs["rows"] == "many"
    library = emulated_hopper.build(dict(FAMILY.render(gemm, knobs).files)["kernel.cu"], tmp_path)
    assert_right(library, 150 * cluster, 392, 264, bool(gemm.tiles))
