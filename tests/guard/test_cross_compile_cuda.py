"""CUDA C++ sources compiled for GPUs that are not here."""

from pathlib import Path

import pytest

from guard.cross_compile.cuda_sources import compile_sources, find_nvcc
from tasks.gpu import load_gpu
from tests.fakes import gpu_kernels as kernels
from tests.fakes.follow import solution

needs_nvcc = pytest.mark.skipif(find_nvcc() is None, reason="there is no nvcc on this machine")


def compiled(source: str, folder: Path, gpu: str = "B200"):  # type: ignore[no-untyped-def]
    (folder / "kernel.cu").write_text(source)
    return compile_sources(solution(source, "cuda_cpp"), folder, load_gpu(gpu), 60)


@needs_nvcc
def test_a_kernel_compiles_and_says_what_it_takes(tmp_path: Path) -> None:
    report = compiled(kernels.CUDA_ADD, tmp_path)
    (kernel,) = report.kernels
    assert report.ok and report.target == "sm_100a" and "nvcc" in report.toolchain
    assert "add" in kernel.name and kernel.registers > 0 and kernel.spill_bytes == 0
    assert kernel.shared_bytes >= 1024  # 256 floats; sm_100 adds what the system takes


@needs_nvcc
def test_instructions_of_one_architecture_are_refused_for_another(tmp_path: Path) -> None:
    assert compiled(kernels.BLACKWELL_ONLY, tmp_path, "B200").ok
    report = compiled(kernels.BLACKWELL_ONLY, tmp_path, "H200")
    assert report.refused and "tcgen05" in report.error and "sm_90a" in report.error


@needs_nvcc
def test_a_mistake_in_the_source_is_shown_with_its_line(tmp_path: Path) -> None:
    report = compiled(kernels.CUDA_ADD.replace("int at", "int at where"), tmp_path)
    assert report.refused and "kernel.cu(4)" in report.error


@needs_nvcc
def test_too_much_static_shared_memory_is_refused(tmp_path: Path) -> None:
    report = compiled(kernels.CUDA_ADD.replace("part[256]", "part[65536]"), tmp_path)
    assert report.refused and "shared" in report.error


@needs_nvcc
def test_a_header_that_this_machine_lacks_blames_nobody(tmp_path: Path) -> None:
    report = compiled('#include "a_header_nobody_has.h"\n' + kernels.CUDA_ADD, tmp_path)
    assert not report.ok and not report.checked and not report.refused
    assert "a_header_nobody_has.h is not on this machine" in report.error


@needs_nvcc
def test_a_compiler_that_needs_longer_than_there_is_blames_nobody(tmp_path: Path) -> None:
    (tmp_path / "kernel.cu").write_text(kernels.CUDA_ADD)
    report = compile_sources(solution(kernels.CUDA_ADD, "cuda_cpp"), tmp_path, load_gpu("B200"), 0.0)
    assert not report.ok and not report.refused and "did not finish" in report.error


@needs_nvcc
def test_flags_of_the_solution_are_used_but_never_its_target(tmp_path: Path) -> None:
    (tmp_path / "kernel.cu").write_text("#ifndef WANTED\n#error no flag\n#endif\n" + kernels.CUDA_ADD)
    base = solution("x", "cuda_cpp")
    options = {"cuda_cflags": ["-DWANTED", "-gencode=arch=compute_80,code=sm_80"]}
    spec = base.spec.model_validate({**base.spec.model_dump(), "compile_options": options})
    report = compile_sources(base.model_copy(update={"spec": spec}), tmp_path, load_gpu("H200"), 60)
    assert report.ok and report.kernels[0].target == "sm_90a", report.error


def test_without_nvcc_the_report_names_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    for name in ("CUDA_HOME", "CUDA_PATH"):
        monkeypatch.delenv(name, raising=False)
    report = compiled(kernels.CUDA_ADD, tmp_path)
    assert not report.ok and not report.checked and "nvcc" in report.error


def test_nvcc_is_found_under_cuda_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "nvcc").touch()
    monkeypatch.setenv("PATH", "")
    monkeypatch.setenv("CUDA_HOME", str(tmp_path))
    assert find_nvcc() == tmp_path / "bin" / "nvcc"
