"""Triton kernels: a launch is compiled for the target instead of being run, and noted with its work."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any
from unittest import mock

import triton
from triton.compiler.compiler import CompiledKernel
from triton.runtime.autotuner import Autotuner
from triton.runtime.jit import JITFunction

from guard.compile_report import KernelReport
from guard.cross_compile.cubin import Resources, cuobjdump_of_triton, resources_of
from guard.cross_compile.steps import Recorder
from guard.cross_compile.triton_driver import PretendDriver
from guard.cross_compile.triton_step import Grid, Specialisation, step_of
from guard.cross_compile.ttir import parse_kernel
from tasks.gpu import Gpu

CONFIGURATIONS = 8
"""Of an autotuned kernel so many are tried, in their order, until one fits without spilling."""


class TritonLaunches:
    """Specialisations compiled for one GPU, and their launches."""

    def __init__(self, gpu: Gpu, recorder: Recorder) -> None:
        self.gpu, self.recorder = gpu, recorder
        self.specialisations: dict[str, Specialisation] = {}
        self.failures: dict[str, KernelReport] = {}
        self.notes: set[str] = set()
        self._chosen: dict[int, Any] = {}
        self._cuobjdump = cuobjdump_of_triton()
        self._run = JITFunction.run

    @property
    def reports(self) -> tuple[KernelReport, ...]:
        return (*(s.report for s in self.specialisations.values()), *self.failures.values())

    @contextmanager
    def intercepted(self) -> Iterator[None]:
        """Inside, Triton compiles for the GPU and launches nothing."""
        driver = triton.runtime.driver
        with ExitStack() as stack:
            stack.callback(driver.set_active, driver._active)
            driver.set_active(PretendDriver(self.gpu))
            patches: list[tuple[Any, str, Any]] = [
                (JITFunction, "run", lambda jit, *a, **k: self.launch(jit, a, k)),
                (Autotuner, "run", lambda tuner, *a, **k: self._first_that_fits(tuner, a, k)),
                (CompiledKernel, "_init_handles", self._fill_in),
                (triton.testing, "do_bench", self._no_bench),
                (triton.testing, "do_bench_cudagraph", self._no_bench),
            ]
            for owner, name, value in patches:
                stack.enter_context(mock.patch.object(owner, name, value))
            yield

    def launch(self, jit: Any, args: tuple[Any, ...], options: dict[str, Any]) -> Any:
        """What `kernel[grid](...)` and `kernel.warmup(...)` come to; the compiled kernel, or None."""
        grid, warmup = options.pop("grid", None), options.pop("warmup", False)
        bound = _bind(jit, args, options)
        grid = grid(bound) if callable(grid) else grid
        try:
            with self.recorder.paused():
                kernel = self._run(jit, *args, grid=None, warmup=True, **options)
        except Exception as error:  # noqa: BLE001 -- a candidate's kernel may fail in any way
            self._failed(jit.fn.__name__, error, _launch_grid(grid))
            return None
        specialisation = self._specialisation(kernel)
        if not warmup and self.recorder.on:
            self._note(specialisation, bound, _launch_grid(grid))
        return kernel

    def _first_that_fits(self, tuner: Any, args: tuple[Any, ...], options: dict[str, Any]) -> Any:
        tuner.nargs = dict(zip(tuner.arg_names, args, strict=False))
        chosen = self._configuration(tuner, args, options)
        _call_pre_hook(chosen, tuner.nargs, options)
        tuner.best_config = chosen
        return tuner.fn.run(*args, **options, **chosen.all_kwargs())

    def _configuration(self, tuner: Any, args: tuple[Any, ...], options: dict[str, Any]) -> Any:
        """The first configuration that fits without spills, else the first that fits, else the first."""
        every = tuner.prune_configs(dict(options))
        earlier = [c for c in every if c is self._chosen.get(id(tuner))]
        tried = [*earlier, *(c for c in every if c not in earlier)][:CONFIGURATIONS]
        for wanted in (_fits_without_spills, _fits):
            for configuration in tried:
                if self._try(tuner, configuration, args, options, wanted):
                    self._chosen[id(tuner)] = configuration
                    return configuration
        return every[0]

    def _try(
        self, tuner: Any, configuration: Any, args: tuple[Any, ...], options: dict[str, Any],
        wanted: Callable[[KernelReport], bool],
    ) -> bool:  # fmt: skip
        """Whether `configuration` compiles to a kernel that is `wanted`; leaves no trace in the reports."""
        before = dict(self.specialisations), dict(self.failures)
        _call_pre_hook(configuration, tuner.nargs, options)
        with self.recorder.paused():
            kernel = tuner.fn.run(*args, **options, **configuration.all_kwargs())
        good = kernel is not None and wanted(self._specialisation(kernel).report)
        self.specialisations, self.failures = before
        return good

    def _specialisation(self, kernel: Any) -> Specialisation:
        if kernel.hash not in self.specialisations:
            known = getattr(kernel, "_specialisation", None)
            if known is None:
                known = kernel._specialisation = self._examine(kernel)
            self.specialisations[kernel.hash] = known
        return self.specialisations[kernel.hash]

    def _examine(self, kernel: Any) -> Specialisation:
        metadata = kernel.metadata
        resources = self._resources(kernel)
        columns = int(getattr(metadata, "tmem_size", None) or 0)
        report = KernelReport(
            name=metadata.name,
            target=self.gpu.target,
            registers=resources.registers,
            spill_bytes=resources.stack_bytes,
            shared_bytes=metadata.shared,
            num_warps=metadata.num_warps,
            tensor_memory_columns=columns,
            error=_misfit(metadata.shared, columns, self.gpu),
        )
        try:
            ttir = parse_kernel(kernel.asm["ttir"])
        except (LookupError, StopIteration, ValueError):
            ttir = None  # another dialect; its work is then guessed from its arguments
        stages = getattr(metadata, "num_stages", 1) or 1
        return Specialisation(report, ttir, dict(kernel.src.signature), stages)

    def _resources(self, kernel: Any) -> Resources:
        with tempfile.NamedTemporaryFile(suffix=".cubin") as file:
            Path(file.name).write_bytes(kernel.asm["cubin"])
            found = resources_of(Path(file.name), self._cuobjdump)
        return found[kernel.metadata.name]

    def _failed(self, name: str, error: Exception, grid: Grid | None) -> None:
        message = f"{type(error).__name__}: {error}".strip()
        report = KernelReport(
            name=name, target=self.gpu.target, registers=0, spill_bytes=0, shared_bytes=0, grid=grid,
            error=message[-1500:],
        )  # fmt: skip
        self.failures.setdefault(f"{name} {message}", report)

    def _note(self, specialisation: Specialisation, bound: dict[str, Any], grid: Grid | None) -> None:
        grid = grid or (1, 1, 1)
        report = specialisation.report
        specialisation.report = report.model_copy(
            update={"launches": report.launches + 1, "grid": report.grid or grid}
        )
        step, note = step_of(specialisation, bound, grid, self.recorder)
        self.recorder.add(step)
        self.notes.update({note} - {""})

    def _fill_in(self, kernel: Any) -> None:
        """What a loaded kernel knows of itself, for candidates that size their grid by occupancy."""
        report = self._specialisation(kernel).report
        kernel.n_regs, kernel.n_spills, kernel.n_max_threads = report.registers, report.spill_bytes // 4, 1024
        kernel.module = kernel.function = 1
        kernel._run = lambda *_, **__: None

    def _no_bench(self, function: Callable[[], Any], *_: Any, **options: Any) -> Any:
        with self.recorder.paused():
            function()
        quantiles = options.get("quantiles")
        return [1.0] * len(quantiles) if quantiles else 1.0


def _bind(jit: Any, args: tuple[Any, ...], options: dict[str, Any]) -> dict[str, Any]:
    named = {name: value for name, value in options.items() if name in jit.signature.parameters}
    bound = jit.signature.bind(*args, **named)
    bound.apply_defaults()
    return dict(bound.arguments)


def _launch_grid(grid: Any) -> Grid | None:
    if grid is None:
        return None
    x, y, z = (*(int(size) for size in grid), 1, 1)[:3]
    return x, y, z


def _misfit(shared: int, columns: int, gpu: Gpu) -> str:
    """Why a compiled kernel cannot be launched; empty where it can."""
    most = gpu.shared_kib_per_block * 1024
    if shared > most:
        return f"takes {shared} bytes of shared memory a block, {gpu.name} gives {most}"
    if columns > gpu.tensor_memory_columns:
        return f"takes {columns} columns of tensor memory, {gpu.name} gives {gpu.tensor_memory_columns}"
    return ""


def _fits(report: KernelReport) -> bool:
    return not report.error


def _fits_without_spills(report: KernelReport) -> bool:
    return not report.error and not report.spill_bytes


def _call_pre_hook(configuration: Any, arguments: dict[str, Any], options: dict[str, Any]) -> None:
    if configuration.pre_hook is not None:
        configuration.pre_hook({**arguments, **options, **configuration.all_kwargs()})
