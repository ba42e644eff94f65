"""What has to be worked out for a value, and whether that is better done once."""

from collections.abc import Set as AbstractSet

from agents.rewrite.pointwise import CHEAP, is_pointwise
from agents.rewrite.program import Op, Program
from agents.rewrite.rows import is_rows
from agents.rewrite.views import SPLITS, is_padding, is_view

_MOVES = ("cat", "stack", "contiguous", "clone")


def cone(program: Program, root: str, known: AbstractSet[str]) -> list[str]:
    """The operations on the way to `root`, itself included, from the inputs and what is `known`."""
    found: dict[str, None] = {}
    waiting = [root]
    while waiting:
        name = waiting.pop()
        if name in found or name not in program.ops or (name != root and name in known):
            continue
        found[name] = None
        waiting += program.ops[name].reads
    return list(found)


def is_fusible(program: Program, op: Op) -> bool:
    """Whether a kernel of ours can work it out."""
    if op.base in ("cat", "stack"):
        return op.name in program.types and len(op.args[0]) <= 4
    if op.base in SPLITS or is_padding(program, op):
        return True
    return is_view(program, op) or is_rows(program, op) or is_pointwise(program, op)


def depends_on_inputs(program: Program, name: str) -> bool:
    """False for what is the same whatever the inputs hold."""
    return any(read in program.inputs for op in cone(program, name, set()) for read in program.ops[op].reads)


def is_dear(program: Program, name: str, known: AbstractSet[str]) -> bool:
    """Whether working it out again costs more than storing it once and reading it."""
    if name not in program.types or not depends_on_inputs(program, name):
        return False
    ops = [program.ops[n] for n in cone(program, name, known)]
    if any(is_rows(program, op) for op in ops):
        return True
    loads = {read for op in ops for read in op.reads} - {op.name for op in ops}
    own = sum(program.types[name].elements)
    full = [n for n in loads if n in program.types and sum(program.types[n].elements) >= own]
    return len(full) > 1 or sum(op.base not in CHEAP and not is_view(program, op) for op in ops) > 2


def only_moves(program: Program, op: Op) -> bool:
    """Whether it computes nothing."""
    return is_view(program, op) or op.base in _MOVES
