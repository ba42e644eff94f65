"""Operations that change nothing, are done twice, or are never used, taken out."""

from typing import Any

from agents.rewrite.program import Op, Program, Ref, replaced

_SAME = {"detach", "detach_", "alias", "lift_fresh_copy", "lift_fresh", "contiguous", "clone", "positive"}
_NEVER_TWICE = ("rand", "normal", "bernoulli", "dropout", "empty", "multinomial")


class Impure(Exception):
    """The program writes into tensors that it reads elsewhere."""


def cleaned(program: Program) -> Program:
    """The same results with fewer operations; `Impure` where order matters beyond what is read."""
    for op in program.ops.values():
        if op.base.endswith("_") and not op.base.endswith("__") and op.base not in _SAME:
            raise Impure(f"{op.target} writes in place")
    ops = _without_duplicates(program)
    return _alive(program, ops)


def _without_duplicates(program: Program) -> tuple[dict[str, Op], dict[str, str]]:
    names: dict[str, str] = {}
    seen: dict[Any, str] = {}
    ops: dict[str, Op] = {}
    for op in program.ops.values():
        op = Op(op.name, op.target, replaced(op.args, names), replaced(op.kwargs, names))
        same = _same_as(program, op)
        if same is not None:
            names[op.name] = same
            continue
        key = (op.target, repr(op.args), repr(sorted(op.kwargs.items())))
        if key in seen and not any(word in op.base for word in _NEVER_TWICE):
            names[op.name] = seen[key]
            continue
        seen[key] = op.name
        ops[op.name] = op
    return ops, names


def _same_as(program: Program, op: Op) -> str | None:
    """The operand that the operation returns as it is: same sizes, type and values."""
    if not op.args or not isinstance(op.args[0], Ref) or op.args[0].name not in program.types:
        return None
    operand = op.args[0].name
    is_same = program.types[operand] == program.types.get(op.name)
    if not is_same:
        return None
    if op.base in _SAME or op.base in (
        "to",
        "_to_copy",
        "view",
        "reshape",
        "expand",
        "_unsafe_view",
        "flatten",
    ):
        return operand if op.target != "view.dtype" else None
    if op.base in ("mul", "div") and len(op.args) == 2 and getattr(op.args[1], "constant", None) == 1:
        return operand
    return None


def _alive(program: Program, done: tuple[dict[str, Op], dict[str, str]]) -> Program:
    ops, names = done
    results = tuple(names.get(name, name) for name in program.results)
    needed = set(results)
    kept: dict[str, Op] = {}
    for op in reversed(ops.values()):
        if op.name in needed:
            kept[op.name] = op
            needed |= set(op.reads)
    ordered = dict(reversed(kept.items()))
    constants = {name: value for name, value in program.constants.items() if name in needed}
    types = {
        name: typed for name, typed in program.types.items()
        if name in ordered or name in program.inputs or name in constants
    }  # fmt: skip
    called = {op.target.removeprefix("helper.") for op in ordered.values()}
    helpers = {name: source for name, source in program.helpers.items() if name in called}
    return Program(program.followed, program.inputs, types, ordered, results, constants, helpers)
