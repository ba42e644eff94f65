"""Candidates written in Python, followed on shapes and compiled for GPUs that are not here."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.fakes import gpu_kernels as kernels
from tests.fakes.follow import ADD, ATTENTION, NORM, PRODUCT, follow, problem, workload

pytest.importorskip("triton")


@pytest.fixture(autouse=True)
def own_caches(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setenv("TRITON_CACHE_DIR", str(tmp_path / "triton"))
    monkeypatch.delenv("TRITON_INTERPRET", raising=False)
    yield


@pytest.mark.parametrize(("gpu", "target"), [("B200", "sm_100a"), ("H200", "sm_90a")])
def test_a_vector_add_compiles_and_says_what_it_takes(tmp_path: Path, gpu: str, target: str) -> None:
    wanted = workload(ADD, n=10_000)
    report = follow(kernels.VECTOR_ADD, ADD, tmp_path, wanted, gpu=gpu, fills_outputs=True).report
    (kernel,) = report.kernels
    assert report.ok and report.target == kernel.target == target
    assert (kernel.name, kernel.launches, kernel.grid, kernel.num_warps) == ("add", 1, (10, 1, 1), 4)
    assert 8 <= kernel.registers <= 64 and kernel.spill_bytes == 0
    assert "triton" in report.toolchain


def test_what_is_specialised_differently_is_compiled_twice(tmp_path: Path) -> None:
    both = workload(ADD, n=1024), workload(ADD, n=1023)  # divisible by 16, and not
    report = follow(kernels.VECTOR_ADD, ADD, tmp_path, *both, fills_outputs=True).report
    assert [kernel.launches for kernel in report.kernels] == [1, 1]


def test_a_heuristic_sees_the_arguments(tmp_path: Path) -> None:
    examined = follow(kernels.ROW_NORM, NORM, tmp_path, workload(NORM, rows=14418, width=3000))
    (kernel,) = examined.report.kernels
    assert examined.report.ok and kernel.grid == (14418, 1, 1)
    (predicted,) = examined.predicted
    assert predicted.bytes == 2 * (2 * 14418 * 3000 + 3000)  # masked lanes cost nothing


def test_an_autotuned_kernel_takes_the_first_configuration_that_fits(tmp_path: Path) -> None:
    report = follow(
        kernels.AUTOTUNED_PRODUCT, PRODUCT, tmp_path, workload(PRODUCT, m=512, n=512, k=512)
    ).report
    (kernel,) = report.kernels
    assert report.ok and kernel.grid == (4, 4, 1) and kernel.launches == 1


def test_a_tile_too_big_for_the_registers_spills(tmp_path: Path) -> None:
    wanted = workload(PRODUCT, m=512, n=512, k=512)
    report = follow(kernels.product(128, 64, 32, warps=1, stages=1), PRODUCT, tmp_path, wanted).report
    (kernel,) = report.kernels
    assert kernel.registers == 255 and kernel.spill_bytes > 0


def test_too_much_shared_memory_is_refused_with_both_figures(tmp_path: Path) -> None:
    wanted = workload(PRODUCT, m=512, n=512, k=512)
    report = follow(
        kernels.product(128, 128, 128, warps=8, stages=6), PRODUCT, tmp_path, wanted, gpu="B200"
    ).report
    (kernel,) = report.kernels
    assert report.refused and kernel.shared_bytes > 227 * 1024
    assert f"takes {kernel.shared_bytes} bytes of shared memory" in report.error and "232448" in report.error


@pytest.mark.parametrize("gpu", ["B200", "H200"])
def test_tensor_descriptors_of_host_and_kernel_are_followed(tmp_path: Path, gpu: str) -> None:
    wanted = workload(PRODUCT, m=1024, n=2048, k=512)
    examined = follow(kernels.DESCRIPTOR_PRODUCT, PRODUCT, tmp_path, wanted, gpu=gpu)
    (kernel,) = examined.report.kernels
    assert examined.report.ok, examined.report.error
    assert kernel.grid == ({"B200": 148, "H200": 132}[gpu], 1, 1)
    assert (kernel.tensor_memory_columns > 0) == (gpu == "B200")
    (predicted,) = examined.predicted
    assert predicted.flops == pytest.approx(2 * 1024 * 2048 * 512, rel=0.1)
    assert predicted.bytes == 2 * (1024 * 512 + 512 * 2048 + 1024 * 2048)


def test_the_loops_of_a_causal_attention_are_counted_as_they_run(tmp_path: Path) -> None:
    wanted = workload(ATTENTION, batch=2, heads=8, length=4096, depth=128)
    examined = follow(kernels.CAUSAL_ATTENTION, ATTENTION, tmp_path, wanted)
    (predicted,) = examined.predicted
    whole = 4 * 16 * 4096 * 4096 * 128
    assert whole / 2 < predicted.flops < 0.54 * whole  # half, and the diagonal blocks
    assert examined.notes == []


def test_a_loop_whose_length_is_a_value_is_owned_up_to(tmp_path: Path) -> None:
    definition = problem(
        {"x": ("float32", ["n"]), "lengths": ("int32", ["rows"])}, {"out": ("float32", ["rows", "lanes"])}
    )
    wanted = workload(definition, n=65536, rows=64, lanes=128)
    examined = follow(kernels.LOOP_OVER_VALUES, definition, tmp_path, wanted)
    assert examined.report.ok
    assert examined.notes == ["total: a loop whose length depends on values was counted once"]
    assert examined.predicted[0].bytes == 4 * (65536 + 64 + 64 * 128)


def test_a_kernel_whose_text_cannot_be_read_is_priced_by_its_arguments(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("guard.cross_compile.triton_step.count", lambda *_: {}["a new operation"])
    examined = follow(kernels.VECTOR_ADD, ADD, tmp_path, workload(ADD, n=4096), fills_outputs=True)
    assert examined.report.ok and examined.predicted[0].bytes == 12 * 4096
    assert examined.notes == ["add: arithmetic not known, taken as none"]


@pytest.mark.parametrize(
    ("name", "a", "b", "result"),
    [
        ("arith.divsi", -7, 2, -3), ("arith.remsi", -7, 2, -1), ("arith.floordivsi", -7, 2, -4),
        ("arith.ceildivsi", 7, 2, 4), ("arith.divsi", 2**60 + 1, 1, 2**60 + 1), ("arith.divsi", 1, 0, None),
        ("arith.shli", 3, 2, 12), ("arith.a_new_one", 1, 1, None),
    ],
)  # fmt: skip
def test_integers_divide_as_the_compiler_says(name: str, a: int, b: int, result: int | None) -> None:
    from guard.cross_compile.ttir_scalars import evaluate

    assert evaluate(name, f"{name} %a, %b : i64", [a, b]) == result


def test_a_kernel_that_does_not_compile_is_refused_and_the_others_are_still_reported(tmp_path: Path) -> None:
    broken = kernels.VECTOR_ADD.replace(
        "def run(x, y, out):",
        "@triton.jit\ndef broken(x, BLOCK: tl.constexpr):\n    tl.store(x + tl.arange(0, 3), 0.0)\n\n\n"
        "def run(x, y, out):\n    broken[(1,)](x, BLOCK=4)",
    )
    report = follow(broken, ADD, tmp_path, workload(ADD, n=1024), fills_outputs=True).report
    assert report.refused and "broken" in report.error and "power of 2" in report.error
    assert {kernel.name: bool(kernel.error) for kernel in report.kernels} == {"add": False, "broken": True}


def test_a_candidate_without_kernels_of_its_own_is_fine(tmp_path: Path) -> None:
    source = "def run(x, y):\n    return x + y\n"
    examined = follow(source, ADD, tmp_path, workload(ADD, n=10**11), language="pytorch")  # 400 GB a tensor
    assert examined.report.ok and examined.report.kernels == ()
    assert examined.predicted[0].bytes == 12 * 10**11


LOOKS_AT_VALUES = "def run(x, y):\n    return x + y if float(x.sum()) < 1e9 else x * y\n"


def test_a_candidate_that_looks_at_values_says_why_it_was_not_followed(tmp_path: Path) -> None:
    report = follow(LOOKS_AT_VALUES, ADD, tmp_path, workload(ADD, n=4096), language="pytorch").report
    assert not report.ok and not report.checked and not report.refused
    assert "meta tensors" in report.error and "no smaller workload" in report.error


def test_a_candidate_that_looks_at_values_is_followed_on_a_smaller_workload(tmp_path: Path) -> None:
    full, small = workload(ADD, n=4096 * 1000), workload(ADD, n=4096)
    examined = follow(LOOKS_AT_VALUES, ADD, tmp_path, full, small={full.uuid: small}, language="pytorch")
    assert examined.report.ok and "scaled by its bytes" in examined.notes[0]
    (predicted,) = examined.predicted
    assert predicted.uuid == full.uuid
    assert predicted.bytes == pytest.approx(
        1000 * (12 * 4096 + 4 * 4096 + 4), rel=0.01
    )  # the sum reads x again


@pytest.mark.parametrize(
    ("source", "said", "blamed"),
    [
        ("def run(x, y):\n    raise RuntimeError('sulks')\n", "sulks", False),
        ("def run(x, y):\n    raise SystemExit(3)\n", "SystemExit: 3", False),
        ("this is no Python", "SyntaxError", True),
        ("import a_package_nobody_has\n", "a_package_nobody_has", False),
        ("x = 1\n", "has no attribute 'run'", True),
    ],
)
def test_a_crash_is_a_sentence_and_never_an_exception(
    tmp_path: Path, source: str, said: str, blamed: bool
) -> None:
    report = follow(source, ADD, tmp_path, workload(ADD, n=64), language="pytorch").report
    assert not report.ok and said in report.error and report.refused == blamed


def test_the_candidate_sees_the_gpu_that_it_is_meant_for(tmp_path: Path) -> None:
    source = """
import torch
def run(x, y):
    seen = torch.cuda.get_device_properties(torch.cuda.current_device())
    assert torch.cuda.is_available() and x.is_cuda and x.get_device() == 0
    assert torch.cuda.get_device_capability() == (10, 0) == (seen.major, seen.minor)
    assert seen.multi_processor_count == 148 and seen.L2_cache_size == 126 * 2**20
    assert x.data_ptr() % 256 == 0 and x[1:].data_ptr() % 256 == 4
    assert torch.zeros(3, device="cuda").device == x.device == torch.device("cuda:0")
    with torch.cuda.stream(torch.cuda.Stream()):
        out = torch.empty_like(x).copy_(x)
    torch.cuda.current_stream().synchronize()
    return out.add_(y.to("cuda", non_blocking=True))
"""
    report = follow(source, ADD, tmp_path, workload(ADD, n=64), gpu="B200", language="pytorch").report
    assert report.ok, report.error


def test_nothing_stays_pretended_afterwards(tmp_path: Path) -> None:
    import torch

    before = torch.cuda.is_available, torch.compile
    follow("def run(x, y):\n    return x + y\n", ADD, tmp_path, workload(ADD, n=64), language="pytorch")
    assert (torch.cuda.is_available, torch.compile) == before
    assert torch.empty(2).device.type == "cpu"
