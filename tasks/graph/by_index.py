"""Which rows a gather reads, when its indices are known."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch

from tasks.graph.kinds import GATHERS
from tasks.graph.steps import Work

if TYPE_CHECKING:
    from tasks.graph.recorder import Recorder

Rows = tuple[int, torch.Tensor]
"""The operand's place among the tensor arguments, and the distinct rows of its first axis that are read."""


def rows_read(
    recorder: Recorder, name: str, work: Work, args: Any, operands: list[torch.Tensor], names: tuple[str, ...]
) -> tuple[Rows | None, dict[str, int] | None]:
    """Of a gather: the rows read, where indices are known and name rows, and bytes touched by operand."""
    if name not in GATHERS:
        return None, None
    place, index = _table_and_index(name, args)
    if place is None:
        return None, None
    table = operands[place]
    known = recorder.values.get(index) if index is not None else None
    if known is None or known.dtype == torch.bool or table.dim() == 0:
        return None, {names[place]: work.reads[place]}
    rows = torch.unique(known.reshape(-1).long())
    if rows.numel() and int(rows[0]) < 0:
        rows = torch.unique(rows % max(table.shape[0], 1))
    return (place, rows), {names[place]: rows.numel() * _row_bytes(table)}


def _table_and_index(name: str, args: Any) -> tuple[int | None, torch.Tensor | None]:
    """The table's place, and the index into its first axis if that is what it is indexed by."""
    if name == "embedding":
        return 0, args[1]
    if name == "index_select":
        return 0, args[2] if args[1] in (0, -args[0].dim()) else None
    if name in ("index", "_unsafe_index"):
        first = args[1][0] if args[1] else None
        return 0, first if all(i is None for i in args[1][1:]) else None
    return 0, None


def _row_bytes(table: torch.Tensor) -> int:
    return table.element_size() * int(torch.Size(table.shape[1:]).numel())
