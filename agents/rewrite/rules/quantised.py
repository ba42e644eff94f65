"""A matrix made fp8 with a scale for each block of it: largest value, scale and division in one pass, in registers."""

from dataclasses import dataclass, replace
from pathlib import Path

import torch

from agents.rewrite.places import (
    Blocked,
    Place,
    Strided,
    behind_views,
    blocked,
    matrix,
    of_operand,
    same_offsets,
    strided,
)
from agents.rewrite.pointwise import clamp_limits, expression, is_pointwise, tensor_arguments
from agents.rewrite.program import Number, Op, Program, Ref, Typed
from agents.rewrite.rules.base import Rule, at_every
from agents.rewrite.rules.draft import Draft
from agents.rewrite.rules.views import CASTS, RESHAPES

_SOURCE = (Path(__file__).parent / "quantised.txt").read_text()
_MOST = 16384
"""Values of a block, all of which one program holds."""
_FLAT = {*RESHAPES, "unsqueeze", "squeeze"}
"""Views that leave the order of elements as it is."""
_FLOATS = ("float32", "float16", "bfloat16")


@dataclass(frozen=True)
class _Quantised:
    result: str
    scale: str
    steps: tuple[Op, ...]
    """From the largest value to the scale."""
    limits: tuple[float | None, float | None]
    source: str
    strides: Strided
    blocks: Blocked


def apply(program: Program) -> Program | None:
    return at_every(program, _at)


def _at(program: Program, name: str) -> Program | None:
    op, typed = program.ops[name], program.types.get(name)
    is_cast = op.base in CASTS and op.target != "view.dtype"
    if typed is None or typed.dtype != "float8_e4m3fn" or not is_cast or len(typed.shape) != 2:
        return None
    place = behind_views(program, replace(matrix(program, name, False), name=op.reads[0]))
    found = _found(program, name, place)
    return _written(program, found) if found is not None else None


def _found(program: Program, name: str, place: Place) -> _Quantised | None:
    clamp = program.ops.get(place.name)
    limits: tuple[float | None, float | None] = (None, None)
    if clamp is not None and clamp.base == "clamp" and _is_step(program, clamp):
        limits = clamp_limits(clamp)
        place = behind_views(program, replace(place, name=clamp.reads[0]))
    division = program.ops.get(place.name)
    if division is None or division.target != "div.Tensor" or len(division.reads) != 2 or division.kwargs:
        return None
    if program.types[division.name].elements != program.types[name].elements:
        return None
    scale = of_operand(program, place, division, division.args[1].name)
    blocks = blocked(program, scale)
    if blocks is None or not _is_usable(program, name, blocks):
        return None
    steps = _steps_from(program, scale, replace(place, name=division.args[0].name))
    source = _unwidened(program, behind_views(program, replace(place, name=division.args[0].name)))
    strides = strided(program, source)
    if steps is None or strides is None or program.types[source.name].dtype not in _FLOATS:
        return None
    return _Quantised(name, scale.name, steps, limits, source.name, strides, blocks)


def _is_usable(program: Program, name: str, blocks: Blocked) -> bool:
    rows, columns = program.types[name].shape
    high, wide = blocks.rows, blocks.columns
    if high is None or wide is None or high * wide > _MOST or wide < 16:
        return False
    is_power = high & (high - 1) == 0 and wide & (wide - 1) == 0
    return is_power and all(n % high == 0 for n in rows) and all(n % wide == 0 for n in columns)


def _steps_from(program: Program, scale: Place, whole: Place) -> tuple[Op, ...] | None:
    """From the largest of the magnitudes that share a scale; None where the scale is anything else."""
    steps: list[Op] = []
    name = scale.name
    gone: set[int] = set()
    while (op := program.ops.get(name)) is not None:
        if op.base == "amax":
            break
        if _is_step(program, op):
            steps.insert(0, op)
        elif op.base not in _FLAT:
            return None
        name = op.reads[0]
    while (op := program.ops.get(name)) is not None and (op.base == "amax" or (op.base in _FLAT and gone)):
        if op.base != "amax":
            return None
        gone = _reduced(program, op, gone)
        name = op.reads[0]
    if op is None or op.base != "abs" or op.reads != (whole.name,) or not gone:
        return None
    kept = [place for place in range(len(program.types[whole.name].shape)) if place not in gone]
    shape = tuple(program.types[whole.name].shape[place] for place in kept)
    indices = tuple(tuple(index[place] for place in kept) for index in whole.indices)
    return tuple(steps) if same_offsets(program, scale, indices, shape) else None


def _is_step(program: Program, op: Op) -> bool:
    """Whether it makes one fp32 value of another with numbers that are the same in all workloads."""
    is_narrow = not is_pointwise(program, op) or program.types[op.name].dtype != "float32"
    numbers = [given for given in op.args if isinstance(given, Number)]
    return not is_narrow and len(op.reads) == 1 and all(number.constant is not None for number in numbers)


def _reduced(program: Program, op: Op, later: set[int]) -> set[int]:
    """Dimensions of the operand that are gone, where those in `later` of the result go too."""
    rank = len(program.types[op.reads[0]].shape)
    given = op.args[1] if len(op.args) > 1 else ()
    dims = {int(n.constant) % rank for n in given} or set(range(rank))
    keeps = len(op.args) > 2 and op.args[2] is True
    rest = list(range(rank)) if keeps else [place for place in range(rank) if place not in dims]
    return dims | {rest[place] for place in later}


def _unwidened(program: Program, place: Place) -> Place:
    while (op := program.ops.get(place.name)) is not None and op.base in CASTS and op.target != "view.dtype":
        if program.types[place.name].dtype != "float32":
            break  # rounded to a narrow type, which is where it is read
        place = behind_views(program, replace(place, name=op.reads[0]))
    return place


def _written(program: Program, found: _Quantised) -> Program:
    draft = Draft(program)
    text = _SOURCE.replace("SCALE", _scale_lines(program, found.steps)).replace(
        "CLAMP", _clamp_lines(found.limits)
    )
    named = ("_quantised", *(f"_quantised_{number}" for number in range(2, 99)))
    name = next(
        n for n in named if program.helpers.get(n, text.replace("NAME", n)) == text.replace("NAME", n)
    )
    shape, scales = program.types[found.result].shape, program.types[found.scale]
    vectors = (found.strides.row, found.strides.column, found.blocks.row, found.blocks.column)
    args = (
        Ref(found.source), tuple(map(Number, shape)), tuple(map(Number, scales.shape)), tuple(map(Number, vectors)),
        draft.number(found.blocks.rows or 1), draft.number(found.blocks.columns or 1),
    )  # fmt: skip
    call = draft.helper(name, text.replace("NAME", name), args, None)
    values = draft.part(call, 0, Typed(shape, "float8_e4m3fn"), f"{found.result}_values")
    return draft.done({found.result: values, found.scale: draft.part(call, 1, scales, f"{found.scale}_made")})


def _scale_lines(program: Program, steps: tuple[Op, ...]) -> str:
    lines = ["scale = largest"]
    for op in steps:
        operands = [
            ("scale", "float32") if isinstance(a, Ref) else (repr(a.constant), "number")
            for a in tensor_arguments(op)
        ]
        value = expression(op, "float32", operands)
        lines.append(f"scale = {_as_a_gpu_divides(op, value)}")
    return "\n".join(f"    {line}" for line in lines)


def _as_a_gpu_divides(op: Op, value: str) -> str:
    """torch multiplies by a number's fp32 reciprocal there: one bit of a scale turns whole blocks of ties around."""
    if op.target != "div.Tensor" or op.kwargs or not isinstance(op.args[1], Number):
        return value
    reciprocal = 1 / torch.tensor(op.args[1].constant, dtype=torch.float32)
    return f"scale * {reciprocal.item()!r} if ON_GPU else {value}"


def _clamp_lines(limits: tuple[float | None, float | None]) -> str:
    low, high = limits
    lines = [f"quotient = tl.where(quotient < {low!r}, {low!r}, quotient)"] if low is not None else []
    lines += [f"quotient = tl.where(quotient > {high!r}, {high!r}, quotient)"] if high is not None else []
    return "\n".join(f"    {line}" for line in lines)


RULE = Rule("quantised_in_blocks", "exact", apply)
