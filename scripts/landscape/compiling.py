"""Compiles settings in processes of their own, so that the timing process finds every kernel in Triton's cache."""

import contextlib
import hashlib
import os
import tempfile
import time
from collections.abc import Iterator
from concurrent.futures import Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from multiprocessing import get_context
from pathlib import Path
from typing import Any

from guard.compile_report import CompileReport
from tasks.solution import Solution
from tasks.task import Task

Report = dict[str, Any]
"""`failure` and `detail` where it does not compile, else the most registers, spilled and shared bytes of a kernel."""

_COMPILE_LIMIT_S = 120.0


class Compilers:
    """Processes of one job each, so that a compiler that dies takes nothing else along."""

    def __init__(self, task: Task, target: str, cache: Path, processes: int, build: bool) -> None:
        """`build`: extensions too, not only what the assembler says of their kernels."""
        self._told = (task.model_dump_json(), target, str(cache), build)
        self._idle = [self._new() for _ in range(processes)]
        self._busy: dict[Future[Report], tuple[int, ProcessPoolExecutor]] = {}

    def reports(self, solutions: list[Solution]) -> Iterator[tuple[int, Report]]:
        """Each setting's place and report as soon as it is done, in no order."""
        waiting = list(enumerate(solutions))[::-1]
        while waiting or self._busy:
            while waiting and self._idle:
                number, solution = waiting.pop()
                process = self._idle.pop()
                self._busy[process.submit(_compile, solution.model_dump_json())] = number, process
            done, _ = wait(self._busy, return_when="FIRST_COMPLETED")
            for future in done:
                number, process = self._busy.pop(future)
                died = isinstance(future.exception(), BrokenProcessPool)
                self._idle.append(self._new() if died else process)
                yield number, _report(future)

    def close(self) -> None:
        for executor in (*self._idle, *(process for _, process in self._busy.values())):
            children = list((executor._processes or {}).values())
            executor.shutdown(wait=False, cancel_futures=True)
            for child in children:
                with contextlib.suppress(OSError):
                    child.kill()

    def _new(self) -> ProcessPoolExecutor:
        context = get_context("spawn")
        return ProcessPoolExecutor(1, mp_context=context, initializer=_settle, initargs=self._told)


def _report(future: "Future[Report]") -> Report:
    error = future.exception()
    if error is None:
        return future.result()
    kind = "compiler died" if isinstance(error, BrokenProcessPool) else "does not compile"
    return {"failure": kind, "detail": f"{type(error).__name__}: {str(error)[:300]}"}


_held: dict[str, Any] = {}


def _settle(task: str, target: str, cache: str, build: bool) -> None:
    os.environ.update({"CUDA_VISIBLE_DEVICES": "", "TRITON_CACHE_DIR": cache, "OMP_NUM_THREADS": "1"})
    os.environ.pop("TRITON_INTERPRET", None)
    os.dup2(os.open(os.devnull, os.O_WRONLY), 2)  # what MLIR prints of a failure fills screens

    from guard.cross_compile.lazy_dynamo import put_off_dynamo
    from tasks.gpu import gpu_of_target

    put_off_dynamo()
    import torch

    torch.set_num_threads(1)
    _held.update(task=Task.model_validate_json(task), gpu=gpu_of_target(target), build=build)


def _compile(text: str) -> Report:
    solution = Solution.model_validate_json(text)
    began = time.monotonic()
    compiled = _compile_cpp(solution, text) if solution.spec.is_cpp else _compile_python(solution)
    return {**compiled, "compile_s": round(time.monotonic() - began, 2)}


def _compile_python(solution: Solution) -> Report:
    from guard.cross_compile.candidate_code import lay_out
    from guard.cross_compile.examination import examine_python
    from guard.cross_compile.request import Request

    task, gpu = _held["task"], _held["gpu"]
    with tempfile.TemporaryDirectory() as folder:
        sources = Path(folder)
        request = Request(
            solution=solution, definition=task.definition, workloads=task.workloads,
            blob_roots=task.blob_roots, gpus=(gpu,), folder=folder, limit_s=_COMPILE_LIMIT_S,
        )  # fmt: skip
        lay_out(solution, sources)
        return _found(examine_python(request, gpu, sources, time.monotonic() + _COMPILE_LIMIT_S).report)


def _compile_cpp(solution: Solution, text: str) -> Report:
    """The extension is kept in the cache's folder, where the timing process imports it from."""
    from guard.cross_compile.candidate_code import lay_out
    from guard.cross_compile.cuda_sources import compile_sources

    name = f"setting_{hashlib.sha256(text.encode()).hexdigest()[:12]}"
    folder = Path(os.environ["TRITON_CACHE_DIR"]) / name
    lay_out(solution, folder)
    if _held["build"]:
        return _built(solution, folder, name)
    return _found(compile_sources(solution, folder, _held["gpu"], _COMPILE_LIMIT_S))


def _built(solution: Solution, folder: Path, name: str) -> Report:
    from torch.utils import cpp_extension

    options = solution.spec.compile_options
    assert options is not None
    files = sorted(str(path) for path in folder.iterdir() if path.suffix in (".cu", ".cpp"))
    try:
        cpp_extension.load(
            name=name, sources=files, extra_cflags=list(options.cflags), extra_cuda_cflags=list(options.cuda_cflags),
            extra_ldflags=list(options.ld_flags), extra_include_paths=[str(folder)], build_directory=str(folder),
            is_python_module=False,
        )  # fmt: skip
    except Exception as error:  # noqa: BLE001 - whatever a compiler says
        built = folder / f"{name}.so"
        if not built.exists():  # it may not load here, where no device is seen
            return {"failure": "does not compile", "detail": _errors(str(error))}
    return {"extension": str(folder / f"{name}.so"), **_resources(folder / f"{name}.so")}


def _errors(said: str) -> str:
    """The first lines that name an error; compilers say much else before and after."""
    named = [line.strip() for line in said.splitlines() if "error:" in line or "error " in line.lower()]
    return " | ".join(named[:4])[:600] or said[-300:]


def _resources(extension: Path) -> Report:
    from guard.cross_compile.cubin import cuobjdump_of_triton, resources_of

    kernels = list(resources_of(extension, cuobjdump_of_triton()).values())
    return {
        "registers": max((k.registers for k in kernels), default=None),
        "spill_bytes": max((k.stack_bytes for k in kernels), default=None),
        "shared_bytes": max((k.static_shared_bytes for k in kernels), default=None),
    }


def _found(report: CompileReport) -> Report:
    kernels = report.kernels
    found: Report = {
        "registers": max((k.registers for k in kernels), default=None),
        "spill_bytes": max((k.spill_bytes for k in kernels), default=None),
        "shared_bytes": max((k.shared_bytes for k in kernels), default=None),
    }
    # what only could not be followed here may still run
    return (
        {**found, "failure": "does not compile", "detail": report.error[-300:]} if report.refused else found
    )
