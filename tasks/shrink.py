"""Workloads scaled down to what a machine without the target GPU can run, their structure kept.

The reference decides whether a shrunk workload is a good one: whoever shrinks runs it before use.
"""

import uuid
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

from tasks.axis_relations import relations
from tasks.blobs import NO_RECORDING
from tasks.definition import AxisConst
from tasks.effort import Effort
from tasks.shrink_budget import ShrinkBudget
from tasks.shrink_steps import ALIGNMENTS, halved, shrunk_size
from tasks.sizes import gib
from tasks.task import LintFinding, Mark, Task
from tasks.value import canonical_json
from tasks.workload import SafetensorsInput, Workload

_NAMESPACE = uuid.uuid5(uuid.NAMESPACE_OID, "a kernelarc workload scaled down")
SMALLER_CONSTANTS = "__smaller_constants"
"""Ends the names of a task whose constants were shrunk too: it is another problem."""


_RAGGED_SHARE, _ROWS_ALIGNMENT = 16, 16
"""Of the operations allowed for real widths, the part that is left for rows: some of an odd number, not one. A
multiple of more than 16 they need not be: an interpreter takes milliseconds for each."""
CPU_OPERATIONS = 40_000_000_000
"""About a second of an eager reference on two idle CPU cores."""


class CannotShrink(Exception):
    """Not even the smallest sizes fit. Nobody's fault: the problem wants a larger machine."""


def shrink(task: Task, budget: ShrinkBudget, constants: bool = False) -> Task:
    """`task` with each workload that does not fit `budget` scaled down on its `var` axes.

    Axes shrink by halves, whichever helps most first, and keep what they have: multiples of 128 or 16 stay
    such (where memory allows), odd sizes stay odd, nothing goes below 1, relations between axes hold, no axis
    becomes empty. A workload that fits is left alone, and a task of which all fit is returned as it is.
    Otherwise the task is marked `shrunk`; each shrunk workload has its own uuid, the original's stands in
    `originals`; recorded inputs, which no longer fit, will be made up, and the task is marked for that too.
    Of workloads that have become equal, one is kept, and a finding says so.

    With `constants`, `const` axes are halved as well until the workloads fit; definition and task get another
    name. Raises `CannotShrink` with the figures when no workload can be made to fit.
    """
    try:
        return _Shrinking(task, budget).task()
    except CannotShrink as small:
        if not constants:
            raise
        return _with_smaller_constants(task, budget, small)


def planned_bytes(effort: Effort, axes: Mapping[str, int]) -> int:
    """Memory that judging takes: inputs twice, outputs three times, and the reference's own."""
    inputs, outputs = effort.tensors_bytes(axes)
    return 2 * inputs + 3 * outputs + effort.memory_bytes(axes)


class _Shrinking:
    """One pass over the workloads of one task."""

    def __init__(self, original: Task, budget: ShrinkBudget) -> None:
        self.original, self.budget = original, budget
        self.definition = original.definition
        self.effort = Effort(self.definition)
        var = self.definition.var_axes
        rows = [workload.axes for workload in original.workloads]
        self.relations = relations(rows, var) if rows and all(a in row for row in rows for a in var) else ()

    def task(self) -> Task:
        sizes = [(workload, self._axes(workload.axes)) for workload in self.original.workloads]
        pairs = [(workload, _rescaled(workload, axes)) for workload, axes in sizes if axes is not None]
        if sizes and not pairs:
            raise CannotShrink(self._too_large())
        if len(pairs) == len(sizes) and all(before is now for before, now in pairs):
            return self.original
        return self._assembled(pairs)

    def _axes(self, axes: Mapping[str, int]) -> dict[str, int] | None:
        """The sizes chosen for one workload; `None` when none fit in memory."""
        if self._load(axes, self.budget.operations) <= 1:
            return dict(axes)
        allowed, rows = self.budget.structural_operations, min(self.budget.alignment, _ROWS_ALIGNMENT)
        kept = self._halved(axes, rows, self._load_to_the_end, structural=False)
        fits = self._memory(kept) <= 1 and self.effort.operations(kept) <= allowed
        if fits and kept != self._halved(axes, rows, self._load_to_the_end):
            return self._down_to(axes, rows, kept, allowed // _RAGGED_SHARE, structural=False)
        for alignment in (a for a in ALIGNMENTS if a <= self.budget.alignment):
            smallest = self._halved(axes, alignment, self._load_to_the_end)
            if self._memory(smallest) <= 1:
                return self._down_to(axes, alignment, smallest, self.budget.operations, structural=True)
        return None

    def _down_to(
        self,
        axes: Mapping[str, int],
        alignment: int,
        smallest: Mapping[str, int],
        wish: int,
        structural: bool,
    ) -> dict[str, int]:
        """Halved until it costs `wish`, or what `slack` allows above the smallest sizes."""
        operations = max(wish, int(self.effort.operations(smallest) * self.budget.slack))
        return self._halved(axes, alignment, partial(self._load, operations=operations), structural)

    def _halved(
        self,
        axes: Mapping[str, int],
        alignment: int,
        load: Callable[[Mapping[str, int]], float],
        structural: bool = True,
    ) -> dict[str, int]:
        return halved(axes, self.relations, self.effort.at, alignment, load, structural)

    def _memory(self, axes: Mapping[str, int]) -> float:
        return planned_bytes(self.effort, axes) / max(self.budget.memory_bytes, 1)

    def _load(self, axes: Mapping[str, int], operations: int) -> float:
        """How many times over the budget; 1 or less fits."""
        return max(self._memory(axes), self.effort.operations(axes) / max(operations, 1))

    def _load_to_the_end(self, axes: Mapping[str, int]) -> float:
        """Never small enough, so that halving goes on until nothing is left to halve."""
        return 2 + self._load(axes, self.budget.operations)

    def _assembled(self, pairs: Sequence[tuple[Workload, Workload]]) -> Task:
        """From (original, as it is now), without those that are equal to an earlier one."""
        first = {_content(now): now.uuid for _, now in reversed(pairs)}
        kept = [(before, now) for before, now in pairs if first[_content(now)] == now.uuid]
        marks: list[Mark] = ["shrunk"]
        if any(_is_unrecorded(now) for _, now in kept):
            marks.append("synthetic-inputs")
        return self.original.model_copy(
            update={
                "workloads": tuple(now for _, now in kept),
                "marks": tuple(dict.fromkeys((*self.original.marks, *marks))),
                "originals": {now.uuid: before.uuid for before, now in kept if now is not before},
                "findings": (*self.original.findings, *self._remarks(len(pairs), len(kept))),
            }
        )

    def _remarks(self, fitting: int, kept: int) -> list[LintFinding]:
        lost, equal = len(self.original.workloads) - fitting, fitting - kept
        remarks = []
        if lost:
            remarks.append(_remark("shrunk-left-out", f"{lost} workloads do not fit at any size"))
        if equal:
            remarks.append(
                _remark("shrunk-duplicates", f"{equal} workloads became equal to others, and are left out")
            )
        return remarks

    def _too_large(self) -> str:
        smallest = [
            self._halved(w.axes, ALIGNMENTS[-1], self._load_to_the_end) for w in self.original.workloads
        ]
        axes = min(smallest, key=self._memory)
        sizes = ", ".join(f"{name}={axes[name]}" for name in self.definition.var_axes)
        own = self.effort.memory_bytes(axes)
        inputs, outputs = self.effort.tensors_bytes(axes)
        taken = f" and {gib(own)} that the reference takes itself" if own else ""
        return (
            f"{self.original.name} needs {gib(inputs)} of inputs and "
            f"{gib(outputs)} of outputs at the smallest size ({sizes}); "
            f"with the copies that judging keeps{taken} that is {gib(planned_bytes(self.effort, axes))}, "
            f"and this machine offers {gib(self.budget.memory_bytes)}"
        )


def _rescaled(workload: Workload, axes: Mapping[str, int]) -> Workload:
    """`workload` at other sizes, under its own uuid; itself when the sizes are its own."""
    if axes == workload.axes:
        return workload
    inputs: dict[str, Any] = {
        name: source.model_copy(update={"path": NO_RECORDING})
        if isinstance(source, SafetensorsInput)
        else source
        for name, source in workload.inputs.items()
    }
    return workload.model_copy(
        update={"axes": dict(axes), "inputs": inputs, "uuid": _renamed(workload.uuid, axes)}
    )


def _renamed(original: str, axes: Mapping[str, int]) -> str:
    return str(uuid.uuid5(_NAMESPACE, f"{original} {canonical_json(dict(axes))}"))


def _content(workload: Workload) -> str:
    return canonical_json(workload.model_dump(mode="json", exclude={"uuid"}))


def _is_unrecorded(workload: Workload) -> bool:
    return any(isinstance(s, SafetensorsInput) and s.path == NO_RECORDING for s in workload.inputs.values())


def _remark(code: str, problem: str) -> LintFinding:
    return LintFinding(
        level="note", code=code, file="workload.jsonl", field="axes", problem=problem,
        mend="judge on a larger machine for all of them",
    )  # fmt: skip


def _with_smaller_constants(task: Task, budget: ShrinkBudget, last: CannotShrink) -> Task:
    original = task.definition
    values = {n: axis.value for n, axis in original.axes.items() if isinstance(axis, AxisConst)}
    for halvings in range(1, 64):
        smaller = {name: shrunk_size(name, value, halvings, ALIGNMENTS[1]) for name, value in values.items()}
        try:
            return _Shrinking(_renamed_task(task, smaller), budget).task()
        except CannotShrink as still:
            last = still
        if all(shrunk_size(n, v, halvings + 1, ALIGNMENTS[1]) == smaller[n] for n, v in values.items()):
            break
    raise last


def _renamed_task(task: Task, constants: Mapping[str, int]) -> Task:
    axes = {
        name: axis.model_copy(update={"value": constants[name]}) if isinstance(axis, AxisConst) else axis
        for name, axis in task.definition.axes.items()
    }
    definition = task.definition.model_copy(
        update={"axes": axes, "name": task.definition.name + SMALLER_CONSTANTS}
    )
    return task.model_copy(
        update={
            "definition": definition,
            "name": task.name + SMALLER_CONSTANTS,
            "marks": tuple(dict.fromkeys((*task.marks, "shrunk"))),
        }
    )
