"""One candidate followed through all workloads for one GPU: its kernels compiled, its launches priced."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import torch
import triton

from guard.compile_report import CompileReport, WorkloadPrediction
from guard.cross_compile.candidate_code import (
    blank_outputs,
    bytes_of,
    import_entry,
    meta_inputs,
)
from guard.cross_compile.library_calls import storages
from guard.cross_compile.pretend_gpu import pretend_gpu
from guard.cross_compile.request import Request
from guard.cross_compile.steps import Recorder, launches_of
from guard.cross_compile.triton_launches import TritonLaunches
from guard.prediction import Launch, predict_workload
from tasks.gpu import Gpu
from tasks.inputs import InputGenerator
from tasks.workload import Workload

Followed = tuple[Launch, ...]


@dataclass
class Examination:
    report: CompileReport
    predicted: list[WorkloadPrediction] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)


def examine_python(request: Request, gpu: Gpu, folder: Path, deadline: float) -> Examination:
    """Never raises for what the candidate does, short of ending the process."""
    return _Follower(request, gpu, deadline).examine(folder)


class _Follower:
    """Runs the candidate on shapes first, and on small real values where shapes are not enough."""

    def __init__(self, request: Request, gpu: Gpu, deadline: float) -> None:
        self.request, self.gpu, self.deadline = request, gpu, deadline
        self.triton = TritonLaunches(gpu, Recorder())
        self.predicted: list[WorkloadPrediction] = []
        self.notes: list[str] = []

    def examine(self, folder: Path) -> Examination:
        started = time.monotonic()
        failure, checked = self._follow_all(folder)
        problems = [f"{kernel.name}: {kernel.error}" for kernel in self.triton.reports if kernel.error]
        report = CompileReport(
            target=self.gpu.target,
            ok=not problems and not failure,
            checked=checked or bool(problems),
            kernels=self.triton.reports,
            error="; ".join([*problems, *([failure] if failure else [])])[:2000],
            seconds=time.monotonic() - started,
            toolchain={"triton": triton.__version__, "torch": torch.__version__},
        )
        return Examination(report, self.predicted, [*self.notes, *sorted(self.triton.notes)])

    def _follow_all(self, folder: Path) -> tuple[str, bool]:
        """What went wrong (empty when nothing), and whether it can be held against the candidate."""
        entry: Callable[..., Any] | None = None
        for device in ("meta", "cpu"):
            if entry is not None:
                break
            with pretend_gpu(self.gpu, self.triton.recorder, device), self.triton.intercepted():
                try:
                    entry = import_entry(self.request.solution, folder, f"candidate_{self.gpu.target}")
                except BaseException as error:  # noqa: BLE001 - a candidate's module may do anything
                    failure = error
        if entry is None:
            blameless = isinstance(failure, ModuleNotFoundError)  # a dependency that this machine lacks
            return f"importing it: {_said(failure)}", not blameless
        for index, workload in enumerate(self.request.workloads):
            if time.monotonic() > self.deadline:
                left = len(self.request.workloads) - index
                self.notes.append(f"{left} workloads were left out for lack of time")
                break
            problem = self._follow(entry, workload)
            if problem:
                return f"workload {workload.uuid}: {problem}", False
        return "", True

    def _follow(self, entry: Callable[..., Any], workload: Workload) -> str:
        """Price one workload; what went wrong, or nothing."""
        launches, first = self._attempt(entry, workload, "meta")
        scale = 1.0
        if launches is None:
            others = self.request.small
            small = others.get(workload.uuid) or next(iter(others.values()), None)
            if small is None:
                return f"{first} (and there is no smaller workload to try with values)"
            launches, second = self._attempt(entry, small, "cpu")
            if launches is None:
                return second if _wants_values(first) else first
            scale = sum(bytes_of(self.request.definition, workload)) / max(
                sum(bytes_of(self.request.definition, small)), 1
            )
            self.notes.append(f"{workload.uuid} was followed on a smaller one and scaled by its bytes")
        _, written = bytes_of(self.request.definition, workload)
        scaled = tuple(_scaled(launch, scale) for launch in launches)
        self.predicted.append(predict_workload(workload.uuid, scaled, self.gpu, written))
        return ""

    def _attempt(
        self, entry: Callable[..., Any], workload: Workload, device: str
    ) -> tuple[Followed | None, str]:
        """Call twice, noting the second: the first fills caches, as warm-up calls do on the GPU."""
        recorder = self.triton.recorder
        recorder.steps, recorder.alive = [], []
        try:
            inputs = self._inputs(workload, device)
            arguments = list(inputs)
            if self.request.solution.spec.destination_passing_style:
                arguments += blank_outputs(self.request.definition, workload, device)
            with pretend_gpu(self.gpu, recorder, device), self.triton.intercepted():
                entry(*arguments)
                with recorder.recording():
                    returned = entry(*arguments)
            results = set(storages(recorder, (arguments, returned)))
            return launches_of(recorder.steps, results), ""
        except BaseException as error:  # noqa: BLE001 - a candidate's function may do anything
            return None, _said(error)

    def _inputs(self, workload: Workload, device: str) -> list[Any]:
        definition = self.request.definition
        if device == "meta":
            return meta_inputs(definition, workload)
        return list(InputGenerator(definition, workload, "cpu", self.request.blob_roots).make(seed=0))


def _scaled(launch: Launch, scale: float) -> Launch:
    if scale == 1.0:
        return launch
    blocks = launch.blocks and launch.blocks.model_copy(
        update={
            "blocks": max(1, int(launch.blocks.blocks * scale)),
            "asked_bytes": int(launch.blocks.asked_bytes * scale),
        }
    )
    return launch.model_copy(
        update={
            "bytes": int(launch.bytes * scale),
            "flops": {arithmetic: int(amount * scale) for arithmetic, amount in launch.flops.items()},
            "vector_operations": int(launch.vector_operations * scale),
            "matrix": None,
            "blocks": blocks,
        }
    )


def _wants_values(message: str) -> bool:
    return "meta" in message.lower()


def _said(error: BaseException) -> str:
    return f"{type(error).__name__}: {str(error).strip()[:500]}"
