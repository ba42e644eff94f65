"""The frozen sentinels: the cubins that their digests name, and code that launches them as the driver wants it."""

import ctypes
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import torch

from leaderboard.frozen import kernel as frozen
from leaderboard.frozen.candidate import frozen_candidate
from leaderboard.frozen.kernel import (
    FrozenKernel,
    architecture_of,
    frozen_kernel,
    frozen_kernels,
    sentinel_names,
    sentinel_task,
)
from tasks.errors import TaskError

KERNELS = frozen_kernels()


def said(kernel: FrozenKernel) -> str:
    return f"{kernel.name}-{kernel.architecture}"


@pytest.mark.parametrize("kernel", KERNELS, ids=said)
def test_a_cubin_is_the_one_its_digest_names_for_the_architecture_it_is_said_to_be_for(
    kernel: FrozenKernel,
) -> None:
    image = kernel.image()
    assert f"sm_{architecture_of(image)}a" == kernel.architecture
    assert f".text.{kernel.entry}\0".encode() in image


def test_every_sentinel_is_there_for_both_architectures_and_all_are_small() -> None:
    assert {(k.name, k.architecture) for k in KERNELS} == {
        (name, arch) for name in sentinel_names() for arch in ("sm_90a", "sm_100a")
    }
    assert len(sentinel_names()) >= 5
    assert len({k.cubin for k in KERNELS}) == len(KERNELS)
    assert sum(len(k.image()) for k in KERNELS) < 200_000
    assert {path.name for path in (frozen.ROOT / "cubins").iterdir()} == {k.file.name for k in KERNELS}


def test_a_changed_cubin_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    kernel = KERNELS[0]
    monkeypatch.setattr(frozen, "ROOT", tmp_path)
    (tmp_path / "cubins").mkdir()
    kernel.file.write_bytes(b"\x7fELF")
    with pytest.raises(TaskError, match="is not the cubin that was frozen"):
        kernel.image()
    with pytest.raises(ValueError, match="no cubin"):
        architecture_of(b"\x7fELF" + bytes(60))


def test_an_architecture_nothing_was_built_for_is_named() -> None:
    with pytest.raises(TaskError, match=r"was not built for sm_80; it was built for sm_100a, sm_90a"):
        frozen_kernel("sentinel_copy", "sm_80")
    with pytest.raises(TaskError, match="is no sentinel"):
        frozen_kernel("sentinel_nothing", "sm_90a")
    assert sentinel_task("l1_rmsnorm") is None


class Driver:
    """Keeps what the launching code asks of the CUDA driver, and reads arguments as the driver would."""

    def __init__(self, pointers: int, code: int = 0) -> None:
        self.pointers, self.code = pointers, code
        self.loaded: list[bytes] = []
        self.launched: list[dict[str, Any]] = []
        self.attributes: list[tuple[int, int]] = []

    def cuModuleLoadData(self, module: Any, image: bytes) -> int:
        self.loaded.append(image)
        return self.code

    def cuModuleGetFunction(self, function: Any, module: Any, name: bytes) -> int:
        self.entry = name
        function._obj.value = 7
        return 0

    def cuFuncSetAttribute(self, function: Any, attribute: int, value: int) -> int:
        self.attributes.append((attribute, value))
        return 0

    def cuLaunchKernel(self, function: Any, *rest: Any) -> int:
        *shape, stream, arguments, extra = rest
        kinds = [*[ctypes.c_uint64] * self.pointers, ctypes.c_int32, ctypes.c_uint64, ctypes.c_uint64]
        read = [ctypes.cast(arguments[i], ctypes.POINTER(kind))[0] for i, kind in enumerate(kinds)]
        assert (function.value, extra, len(arguments)) == (7, None, len(kinds))
        self.launched.append({"shape": shape, "stream": stream.value, "arguments": read})
        return self.code


def run_with(kernel: FrozenKernel, monkeypatch: pytest.MonkeyPatch, cycles: int = 0, code: int = 0) -> Any:
    """The driver after one call of the candidate's entry, and the tensors it was called with."""
    task = sentinel_task(kernel.name)
    assert task is not None
    (source,) = frozen_candidate(kernel, task, cycles).solution.sources
    names: dict[str, Any] = {}
    exec(compile(source.content, "main.py", "exec"), names)
    driver = Driver(kernel.pointers, code)
    names["driver"] = lambda: driver
    monkeypatch.setattr(torch.cuda, "current_stream", lambda: SimpleNamespace(cuda_stream=99))
    tensors = [torch.zeros(1) for _ in range(kernel.pointers)]
    names["run"](*tensors)
    return driver, tensors


@pytest.mark.parametrize("kernel", KERNELS, ids=said)
def test_the_solution_launches_its_cubin_on_its_tensors(
    kernel: FrozenKernel, monkeypatch: pytest.MonkeyPatch
) -> None:
    driver, tensors = run_with(kernel, monkeypatch)
    assert driver.loaded == [kernel.image()] and driver.entry == kernel.entry.encode()
    addresses = [tensor.data_ptr() for tensor in tensors]
    shape = [kernel.grid, 1, 1, kernel.threads, 1, 1, kernel.shared_bytes]
    assert driver.launched == [{"shape": shape, "stream": 99, "arguments": [*addresses, 0, 0, 0]}]
    asked = [(8, kernel.shared_bytes)] if kernel.shared_bytes > 48 * 1024 else []
    assert driver.attributes == asked


def test_some_kernel_needs_more_shared_memory_than_one_has_without_asking() -> None:
    assert any(kernel.shared_bytes > 48 * 1024 for kernel in KERNELS)


def test_a_delay_is_passed_on_and_makes_another_candidate(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    kernel = frozen_kernel("sentinel_launch", "sm_90a")
    driver, _ = run_with(kernel, monkeypatch, cycles=1234)
    assert [each["arguments"][2] for each in driver.launched] == [1234]
    task = sentinel_task(kernel.name)
    assert task is not None
    assert frozen_candidate(kernel, task).digest == frozen_candidate(kernel, task).digest
    assert frozen_candidate(kernel, task).digest != frozen_candidate(kernel, task, 1234).digest


def test_what_the_driver_refuses_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(RuntimeError, match="copy: the CUDA driver answers 209"):
        run_with(frozen_kernel("sentinel_copy", "sm_90a"), monkeypatch, code=209)
