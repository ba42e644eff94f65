"""Compiles settings in processes of their own, so that the timing process finds every kernel in Triton's cache."""

import contextlib
import os
import tempfile
import time
from collections.abc import Iterator
from concurrent.futures import Future, ProcessPoolExecutor, wait
from multiprocessing import get_context
from pathlib import Path
from typing import Any

from tasks.solution import Solution
from tasks.task import Task

Report = dict[str, Any]
"""`failure` and `detail` where it does not compile, else the most registers, spilled and shared bytes of a kernel."""

_COMPILE_LIMIT_S = 120.0
_AHEAD = 2


class Compilers:
    """A pool of processes; `reports` gives each setting back as soon as it is done, in no order."""

    def __init__(self, task: Task, target: str, cache: Path, processes: int) -> None:
        self._processes = processes
        self._pool = ProcessPoolExecutor(
            processes,
            mp_context=get_context("spawn"),
            initializer=_settle,
            initargs=(task.model_dump_json(), target, str(cache)),
        )

    def reports(self, solutions: list[Solution]) -> Iterator[tuple[int, Report]]:
        waiting = list(enumerate(solutions))[::-1]
        running: dict[Future[Report], int] = {}
        while waiting or running:
            while waiting and len(running) < _AHEAD * self._processes + 64:
                number, solution = waiting.pop()
                running[self._pool.submit(_compile, solution.model_dump_json())] = number
            done, _ = wait(running, return_when="FIRST_COMPLETED")
            for future in sorted(done, key=lambda f: running[f]):
                yield running.pop(future), _result(future)

    def close(self) -> None:
        processes = list((self._pool._processes or {}).values())
        self._pool.shutdown(wait=False, cancel_futures=True)
        for process in processes:
            with contextlib.suppress(OSError):
                process.kill()


def _result(future: "Future[Report]") -> Report:
    try:
        return future.result()
    except Exception as error:  # noqa: BLE001 - a compiler that died takes its whole pool along
        return {"failure": "compiler died", "detail": str(error)[:300]}


_held: dict[str, Any] = {}


def _settle(task: str, target: str, cache: str) -> None:
    os.environ.update({"CUDA_VISIBLE_DEVICES": "", "TRITON_CACHE_DIR": cache, "OMP_NUM_THREADS": "1"})
    os.environ.pop("TRITON_INTERPRET", None)
    os.dup2(os.open(os.devnull, os.O_WRONLY), 2)  # what MLIR prints of a failure fills screens

    from guard.cross_compile.lazy_dynamo import put_off_dynamo
    from tasks.gpu import gpu_of_target

    put_off_dynamo()
    import torch

    torch.set_num_threads(1)
    _held.update(task=Task.model_validate_json(task), gpu=gpu_of_target(target))


def _compile(text: str) -> Report:
    from guard.cross_compile.candidate_code import lay_out
    from guard.cross_compile.examination import examine_python
    from guard.cross_compile.request import Request

    solution, task, gpu = Solution.model_validate_json(text), _held["task"], _held["gpu"]
    began = time.monotonic()
    with tempfile.TemporaryDirectory() as folder:
        sources = Path(folder)
        request = Request(
            solution=solution, definition=task.definition, workloads=task.workloads,
            blob_roots=task.blob_roots, gpus=(gpu,), folder=folder, limit_s=_COMPILE_LIMIT_S,
        )  # fmt: skip
        lay_out(solution, sources)
        report = examine_python(request, gpu, sources, began + _COMPILE_LIMIT_S).report
    kernels = report.kernels
    found: Report = {
        "registers": max((k.registers for k in kernels), default=None),
        "spill_bytes": max((k.spill_bytes for k in kernels), default=None),
        "shared_bytes": max((k.shared_bytes for k in kernels), default=None),
        "compile_s": round(time.monotonic() - began, 2),
    }
    # what only could not be followed here may still run
    return (
        {**found, "failure": "does not compile", "detail": report.error[-300:]} if report.refused else found
    )
