"""One launch of a compiled Triton kernel as a step: what its arguments hold and what its TTIR does with them."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

import torch

from guard.compile_report import KernelReport
from guard.cross_compile.library_calls import storages
from guard.cross_compile.steps import Recorder, Step
from guard.cross_compile.triton_work import Counts, count
from guard.cross_compile.ttir import Kernel
from guard.prediction import Blocks, Launch
from tasks.tensors import tensors_in

Grid = tuple[int, int, int]
Arguments = dict[str, Any]
"""What a kernel was called with, by parameter name, defaults filled in."""


@dataclass
class Specialisation:
    """A kernel compiled for one set of types, constants and options."""

    report: KernelReport
    ttir: Kernel | None
    signature: dict[str, Any]
    """Triton's type of every parameter; `constexpr` for those that were compiled in."""
    stages: int
    counted: dict[Any, Counts] = field(default_factory=dict)


def step_of(special: Specialisation, bound: Arguments, grid: Grid, recorder: Recorder) -> tuple[Step, str]:
    """The step, and what had to be assumed about it (empty when nothing)."""
    extents = {name: storages(recorder, _tensors_of(value)) for name, value in bound.items()}
    parameters = _parameters(special, bound)
    counts, note = None, f"{special.report.name}: arithmetic not known, taken as none"
    if special.ttir is not None and parameters is not None:
        with suppress(LookupError, ValueError, TypeError, ArithmeticError):  # text of a kind not met before
            counts = _counts(special, special.ttir, parameters, bound, grid)
            lost = "a loop whose length depends on values was counted once"
            note = f"{special.report.name}: {lost}" if counts.unknown_loops else ""
    moves = _Moves(extents, counts, parameters or {})
    launch = _launch(special, counts or Counts(), moves, grid)
    return Step(launch, moves.reads, moves.writes, region=recorder.region), note


def _counts(
    special: Specialisation, ttir: Kernel, parameters: dict[str, str], bound: Arguments, grid: Grid
) -> Counts:
    scalars = {p: int(bound[a]) for p, a in parameters.items() if isinstance(bound[a], int)}
    key = (tuple(scalars.items()), grid)
    if key not in special.counted:
        special.counted[key] = count(ttir, scalars, grid)
    return special.counted[key]


class _Moves:
    """Bytes by storage that a launch reads and writes: each argument at most once."""

    def __init__(
        self, extents: dict[str, dict[int, int]], counts: Counts | None, parameters: dict[str, str]
    ) -> None:
        self.reads: dict[int, int] = {}
        self.writes: dict[int, int] = {}
        if counts is None:
            for whole_arguments in extents.values():
                self.reads.update(whole_arguments)
            return
        whole = counts.unknown_loops > 0  # then the counts say too little
        for moved, into in ((counts.loads, self.reads), (counts.stores, self.writes)):
            for parameter, amount in moved.items():
                for storage, extent in extents.get(parameters.get(parameter, ""), {}).items():
                    bytes_moved = extent if whole else min(extent, int(amount))
                    into[storage] = max(into.get(storage, 0), bytes_moved)


def _launch(special: Specialisation, counts: Counts, moves: _Moves, grid: Grid) -> Launch:
    report = special.report
    pipelined = special.stages if counts.flops else 1
    return Launch(
        name=report.name,
        kind="written_gemm" if counts.flops else "written_rows" if counts.reduces else "copy",
        bytes=sum(moves.reads.values()) + sum(moves.writes.values()),
        flops={arithmetic: int(amount) for arithmetic, amount in counts.flops.items()},
        vector_operations=int(counts.vector),
        blocks=Blocks(
            blocks=max(grid[0] * grid[1] * grid[2], 1),
            warps=report.num_warps or 4,
            registers=report.registers,
            shared_bytes=report.shared_bytes,
            spill_bytes=report.spill_bytes,
            in_flight_bytes=int(counts.largest_pass * pipelined),
            asked_bytes=int(sum(counts.loads.values()) + sum(counts.stores.values())),
        ),
    )


def _parameters(special: Specialisation, bound: Arguments) -> dict[str, str] | None:
    """The argument behind each TTIR parameter; None where the two lists do not fit together.

    Constants have no parameter; a host-made tensor descriptor has its shape and strides behind it.
    """
    if special.ttir is None:
        return None
    expected: list[str | None] = []
    for name, kind in special.signature.items():
        if kind == "constexpr":
            continue
        expected.append(name)
        if isinstance(kind, str) and kind.startswith("tensordesc"):
            expected.extend([None] * (2 * len(bound[name].shape)))
    if len(expected) != len(special.ttir.parameters):
        return None
    pairs = zip(special.ttir.parameters, expected, strict=True)
    return {parameter: name for (parameter, _), name in pairs if name is not None}


def _tensors_of(value: Any) -> list[torch.Tensor]:
    base = getattr(value, "base", None)  # of a host-made tensor descriptor
    return list(tensors_in([value if base is None or isinstance(value, torch.Tensor) else base]))
