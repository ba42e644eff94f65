"""Amounts counted for each workload, by following the reference at few sizes where those tell the rest."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from tasks.definition import Definition
from tasks.gpu import Arithmetic
from tasks.speed_of_light.affine import Affine
from tasks.workload import SafetensorsInput, Workload

SLOW_S = 0.3
"""From here on a reference is followed at three sizes of an axis rather than at all of them."""


@dataclass(frozen=True)
class Counted:
    amounts: dict[str, int]
    """Elements, bytes or operations by the name of what was counted."""
    formats: frozenset[Arithmetic] = field(default_factory=frozenset)
    """Narrow formats among the problem's tensors."""
    note: str = ""
    is_exact: bool = True
    """Followed at these very sizes, so that other sizes may be told from it."""


Count = Callable[[Workload], Counted | None]
"""Counts one workload; `None` when its reference cannot be followed."""


PARTLY = "of a slow reference, what does not grow by fixed steps (products) was left out"


class Counts:
    """Counts the workloads of one definition, each set of sizes once.

    The smallest should be asked first: others are told from them where that is exact.
    """

    def __init__(
        self, definition: Definition, workloads: Sequence[Workload], count: Count, slack: float = 0.0
    ) -> None:
        """`slack` is how far, as a share, a third size may lie beside the line through two others."""
        self._count, self._slack = count, slack
        self._smallest = {axis: min(w.axes[axis] for w in workloads) for axis in definition.var_axes}
        self._known: dict[tuple[object, ...], Counted | None] = {}
        self._models: dict[str, Affine] = {}
        self._last: Counted | None = None
        self._is_slow = False

    def of(self, workload: Workload) -> Counted | None:
        told = None
        if self._is_slow:
            recorded = any(isinstance(source, SafetensorsInput) for source in workload.inputs.values())
            told = self._by_steps(workload, partly=recorded)
            if told is None and not recorded:  # recorded inputs fit no sizes but their own
                told = self._on_a_line(workload)
        return told or self._at(workload)

    def _by_steps(self, workload: Workload, *, partly: bool) -> Counted | None:
        """Told from the workloads counted before; `partly` leaves out what does not grow by fixed steps."""
        told = {name: model.tell(workload.axes) for name, model in self._models.items()}
        known = {name: amount for name, amount in told.items() if amount is not None}
        if self._last is None or self._main not in known or (len(known) < len(told) and not partly):
            return None
        note = self._last.note if len(known) == len(told) else PARTLY
        return Counted({**dict.fromkeys(told, 0), **known}, self._last.formats, note)

    @property
    def _main(self) -> str:
        """What is moved, which is counted of every problem, and first."""
        return next(iter(self._models), "")

    def _learn(self, workload: Workload, counted: Counted) -> None:
        if not counted.is_exact:
            return
        self._last = counted
        for name, amount in counted.amounts.items():
            self._models.setdefault(name, Affine(tuple(self._smallest))).add(workload.axes, amount)

    def _at(self, workload: Workload) -> Counted | None:
        key = (tuple(sorted(workload.axes.items())), tuple(workload.scalars.items()))
        if key not in self._known:
            started = time.monotonic()
            self._known[key] = counted = self._count(workload)
            if counted is not None:
                self._learn(workload, counted)
            self._is_slow |= time.monotonic() - started > SLOW_S
        return self._known[key]

    def _on_a_line(self, workload: Workload) -> Counted | None:
        """Counts along an axis in which they prove linear at three sizes; `None` when they do in none."""
        for axis, step in self._smallest.items():
            size = workload.axes[axis]
            if step < 1 or size == step:
                continue
            at = [{**workload.axes, axis: times * step} for times in (1, 2, 3)]
            points = [self._at(workload.model_copy(update={"axes": axes})) for axes in at]
            told = _extended([point for point in points if point], size - step, step, self._slack)
            if told:
                return told
        return None


def _extended(points: list[Counted], beyond: int, step: int, slack: float) -> Counted | None:
    """`beyond` the first of three points that lie `step` apart, if they lie on a line."""
    if len(points) < 3 or len({(*sorted(p.amounts), p.formats) for p in points}) > 1:
        return None
    first, second, third = (point.amounts for point in points)
    slope = {name: second[name] - first[name] for name in first}
    if any(abs(third[name] - second[name] - slope[name]) > slack * third[name] for name in first):
        return None
    amounts = {name: first[name] + beyond * slope[name] // step for name in first}
    return Counted(amounts, points[0].formats, points[0].note)
