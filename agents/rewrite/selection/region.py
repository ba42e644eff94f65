"""Which operations around a selection one kernel works out, row by row."""

from dataclasses import dataclass

from agents.rewrite.program import Op, Program, Vector
from agents.rewrite.selection.chosen import chosen
from agents.rewrite.selection.flat import NotInRegisters, flat, row_count
from agents.rewrite.selection.tile import Tile
from agents.rewrite.selection.ways import work_out
from agents.rewrite.views import SPLITS, is_view

_WIDEST_MOVED = 1024
"""Columns that one warp can hold, which has to where columns are moved."""
_MOST_ALONE = 1024
"""Columns up to which a selection by itself is done better here than by the library, which then sorts what it chose."""


@dataclass(frozen=True)
class Region:
    rows: Vector
    members: tuple[str, ...]
    """In the order of execution; no operation outside stands between two of them."""
    outputs: tuple[str, ...]
    inputs: tuple[str, ...]
    """Everything that members read and that none of them is."""
    body: Tile


def region(program: Program, seed: str) -> Region | None:
    """Around the selection `seed`; None where it cannot be done, or is as well done by the library."""
    op = program.ops[seed]
    if chosen(program, op) is None:
        return None
    rows = row_count(program, op.reads[0])
    left_out: set[str] = set()
    while seed in (members := _members(program, seed, rows, left_out)):
        outputs = _outputs(program, members)
        body = Tile(program, rows, members, work_out)
        try:
            for name in outputs:
                body.store(name)
        except NotInRegisters as error:
            if error.name in left_out or error.name not in members:
                return None
            left_out.add(error.name)
            continue
        ordered = tuple(name for name in program.ops if name in members)
        reads = dict.fromkeys(read for name in ordered for read in program.ops[name].reads)
        outside = tuple(name for name in reads if name not in members)
        found = Region(rows, ordered, outputs, outside, body)
        return found if _is_worth_it(program, found, op) else None
    return None


def _members(program: Program, seed: str, rows: Vector, left_out: set[str]) -> set[str]:
    """What hangs together with `seed` by values that fit, without what can only be had after something outside."""
    fitting = {
        op.name for op in program.ops.values()
        if op.name not in left_out and (chosen(program, op) or op.base in SPLITS or flat(program, op.name, rows))
    }  # fmt: skip
    readers: dict[str, list[str]] = {}
    for op in program.ops.values():
        for read in op.reads:
            readers.setdefault(read, []).append(op.name)
    found: set[str] = set()
    waiting = [seed]
    while waiting:
        name = waiting.pop()
        if name in found or name not in fitting:
            continue
        found.add(name)
        waiting += program.ops[name].reads
        waiting += readers.get(name, [])
    return _convex(program, _kept(program, found))


def _kept(program: Program, found: set[str]) -> set[str]:
    """Without operations that give several results of which one is missing."""
    kept = set(found)
    for name in found:
        parts = [op.name for op in program.ops.values() if name in op.reads]
        is_several = name not in program.types
        if is_several and not all(part in found for part in parts):
            kept -= {name, *parts}
    return kept


def _convex(program: Program, found: set[str]) -> set[str]:
    kept = set(found)
    after: set[str] = set()
    """Outside, and to be had only after a member."""
    for op in program.ops.values():
        if op.name in kept and after & set(op.reads):
            kept.discard(op.name)
        if op.name not in kept and any(read in kept or read in after for read in op.reads):
            after.add(op.name)
    return kept


def _outputs(program: Program, members: set[str]) -> tuple[str, ...]:
    wanted = {read for op in program.ops.values() if op.name not in members for read in op.reads}
    wanted |= set(program.results)
    return tuple(name for name in program.ops if name in members and name in wanted)


def _is_worth_it(program: Program, found: Region, seed: Op) -> bool:
    if found.body.moves_columns and found.body.widest > _WIDEST_MOVED:
        return False
    ops = [program.ops[name] for name in found.members]
    doing = [op for op in ops if op.base != "getitem" and not is_view(program, op)]
    if len(doing) > 1:
        return True
    width = program.types[seed.reads[0]].shape[-1][0]
    by = chosen(program, seed)
    return by is not None and by.in_order and width <= _MOST_ALONE and seed.base == "topk"
