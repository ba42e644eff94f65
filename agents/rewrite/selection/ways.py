"""How each operation of a region is worked out in registers; add one by a function and a line here."""

from collections.abc import Callable

from agents.rewrite.pointwise import (
    FLOATS,
    INTS,
    TL,
    converted,
    expression,
    is_pointwise,
    rounded,
    tensor_arguments,
)
from agents.rewrite.program import Number, Op, Ref
from agents.rewrite.rules.views import RESHAPES, argument, uniform
from agents.rewrite.selection.choices import argument_of_extreme, gathered, part, scattered
from agents.rewrite.selection.flat import NotInRegisters, viewed_columns
from agents.rewrite.selection.tile import Tile
from agents.rewrite.views import is_view

_FILLS = {"zeros": 0, "zeros_like": 0, "new_zeros": 0, "ones": 1, "ones_like": 1, "new_ones": 1}


def work_out(tile: Tile, op: Op) -> str:
    """The variable that holds the result; `NotInRegisters` where nothing here knows how."""
    way = _WAYS.get(op.target) or _WAYS.get(op.base)
    if way is not None:
        return way(tile, op)
    if op.base in RESHAPES and op.target != "view.dtype":
        return _reshaped(tile, op)
    if is_view(tile.program, op):
        source, text = viewed_columns(tile.program, op, tile.rows)
        return tile.moved(source, text, op.name)
    return _pointwise(tile, op)


def _pointwise(tile: Tile, op: Op) -> str:
    own, dtype = tile.flat(op.name), tile.dtype(op.name)
    is_whether = dtype == "bool" and op.base in ("bitwise_not", "to", "_to_copy")
    if not is_whether and not is_pointwise(tile.program, op):
        raise NotInRegisters(op.name)
    arguments = op.args[:1] if is_whether else tensor_arguments(op)
    operands = [tile.operand(given, own, op) for given in arguments]
    return tile.assigned(op.name, rounded(expression(op, dtype, operands), dtype))


def _reshaped(tile: Tile, op: Op) -> str:
    source = op.reads[0]
    if tile.flat(source).width != tile.flat(op.name).width:
        raise NotInRegisters(op.name)
    return tile.value(source)


def _filled(tile: Tile, op: Op) -> str:
    dtype = tile.dtype(op.name)
    held = "tl.float32" if dtype in FLOATS else TL.get(dtype)
    same = (_FILLS[op.base],) if op.base in _FILLS else uniform(tile.program, Ref(op.name))
    if held is None or not same or len(set(same)) != 1:
        raise NotInRegisters(op.name)
    return tile.assigned(op.name, f"tl.full((1, 1), {tile.number(Number(same))}, {held})")


def _reduced(tile: Tile, op: Op) -> str:
    name, dtype = op.reads[0], tile.dtype(op.name)
    _check_last(tile, op)
    is_float = dtype in FLOATS
    if not is_float and not (op.base == "sum" and dtype in INTS):
        raise NotInRegisters(op.name)
    values, mask, length = tile.grouped(name)
    values = converted(values, tile.dtype(name), "float32" if is_float else dtype)
    if op.base in ("amax", "amin"):
        edge, call = ('float("-inf")', "tl.max") if op.base == "amax" else ('float("inf")', "tl.min")
        text = f"{call}({_where(mask, values, edge)}, axis=2)"
    else:
        text = f"tl.sum({_where(mask, values, '0.0' if is_float else '0')}, axis=2)"
        text = f"{text} / {length}.0" if op.base == "mean" else text
    return tile.assigned(op.name, rounded(text, dtype))


def _softmax(tile: Tile, op: Op) -> str:
    name, dtype = op.reads[0], tile.dtype(op.name)
    _check_last(tile, op)
    if dtype not in FLOATS:
        raise NotInRegisters(op.name)
    values, mask, _ = tile.grouped(name)
    values = converted(values, tile.dtype(name), "float32")
    shown = tile.assigned("shown", _where(mask, values, 'float("-inf")'))
    power = tile.assigned("power", f"tl.exp({shown} - tl.max({shown}, axis=2, keep_dims=True))")
    text = f"{power} / tl.sum({power}, axis=2, keep_dims=True)"
    return tile.flattened(rounded(text, dtype), tile.flat(name).groups, op.name)


def _check_last(tile: Tile, op: Op) -> None:
    rank = len(tile.program.types[op.reads[0]].shape)
    given = argument(op, 1, "dim")
    dims = given if isinstance(given, tuple) else (given,)
    if [int(n.constant or 0) % rank for n in dims if isinstance(n, Number)] != [rank - 1]:
        raise NotInRegisters(op.name)


def _where(mask: str, text: str, other: str) -> str:
    return f"tl.where({mask}, {text}, {other})" if mask else text


_WAYS: dict[str, Callable[[Tile, Op], str]] = {
    "getitem": part,
    "gather": gathered,
    "scatter.value": scattered,
    "scatter.src": scattered,
    **dict.fromkeys(("argmax", "argmin"), argument_of_extreme),
    **dict.fromkeys((*_FILLS, "full", "full_like", "new_full", "scalar_tensor"), _filled),
    **dict.fromkeys(("sum", "mean", "amax", "amin"), _reduced),
    **dict.fromkeys(("softmax", "_softmax"), _softmax),
}
