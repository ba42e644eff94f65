"""Which bytes of each input the results depend on: the record walked backwards from what was returned.

A value is needed as a whole, or by rows of its first axis: those that an index names, or that a view spans.
Through element-wise operations rows stay rows, so a table that is widened before it is looked into counts only
where it is looked into.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from tasks.graph.model import Tensor
from tasks.graph.steps import Step

Rows = npt.NDArray[np.bool_]


@dataclass(slots=True)
class _Need:
    """Of one value: rows needed (`None`: all of them), and the bytes that all its readers read."""

    rows: Rows | None
    read: float = 0.0

    @property
    def share(self) -> float:
        return 1.0 if self.rows is None else float(self.rows.mean())

    def join(self, rows: Rows | None) -> None:
        if rows is None or self.rows is None or len(rows) != len(self.rows):
            self.rows = None
        else:
            self.rows = self.rows | rows


def demanded(steps: Sequence[Step], inputs: Sequence[Tensor], results: Sequence[str]) -> dict[str, int]:
    """Bytes by input name; 0 for an input that nothing returned depends on."""
    sizes = {tensor.name: tensor.bytes for tensor in inputs}
    needs = {name: _Need(None, float(sizes.get(name, 0))) for name in results}
    for step in reversed(steps):
        if step.work.kind != "view":
            _walk(step, needs)
    touched = {}
    for tensor in inputs:
        need = needs.get(tensor.name)
        touched[tensor.name] = 0 if need is None else int(min(need.share * tensor.bytes, need.read))
    return touched


def _walk(step: Step, needs: dict[str, _Need]) -> None:
    """Hand on what is needed of a step's outputs to what it reads."""
    wanted = [needs[made.name] for made in step.outputs if made.name in needs]
    if not wanted:
        return
    out = wanted[0] if len(wanted) == 1 else _Need(None)
    length = step.outputs[0].shape[0] if step.outputs[0].shape else 0
    for place, root in enumerate(step.roots):
        rows = _rows_of(step, place, out, length)
        kept = rows is not None and rows is out.rows
        read = step.work.reads[place] * step.times * (out.share if kept else 1.0)
        need = needs.get(root)
        if need is None:
            needs[root] = _Need(rows, read)
        else:
            need.join(rows)
            need.read += read
    if step.mutates and step.mutates not in needs:
        needs[step.mutates] = _Need(out.rows if len(wanted) == 1 else None, out.read)


def _rows_of(step: Step, place: int, out: _Need, length: int) -> Rows | None:
    """The rows of an operand's root that are needed, where they can be told."""
    region, leading = step.regions[place], step.leading[place]
    if step.rows is not None and step.rows[0] == place:
        return _named(step.rows[1].numpy(), leading)
    if region is not None and step.times == 1:
        return _spanned(region, step, place)
    if region is None and out.rows is not None and leading == length == len(out.rows):
        return out.rows if step.work.kind == "pointwise" else None
    return None


def _named(rows: npt.NDArray[np.int64], leading: int) -> Rows | None:
    if not leading:
        return None
    mask = np.zeros(leading, dtype=np.bool_)
    mask[rows] = True
    return mask


def _spanned(region: tuple[int, int, int], step: Step, place: int) -> Rows | None:
    """The rows that a view lies in."""
    count = step.root_rows[place]
    start, end, total = region
    if not count or total % count:
        return None
    each = total // count
    mask = np.zeros(count, dtype=np.bool_)
    mask[start // each : -(-end // each)] = True
    return mask
