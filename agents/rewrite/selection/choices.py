"""What a selection gives, and what looks up or marks the places that it gives."""

from agents.rewrite.pointwise import FLOATS, TL, converted, rounded
from agents.rewrite.program import Op
from agents.rewrite.selection.chosen import Chosen, chosen, shows_order
from agents.rewrite.selection.flat import Flat, NotInRegisters, power_of_two, viewed_columns
from agents.rewrite.selection.rounds import TAKEN
from agents.rewrite.selection.tile import Tile
from agents.rewrite.views import SPLITS, is_view

_MOST_COMPARED = 8192
"""Columns times places, where every column looks for itself among the places."""

_COMPARED_A_VALUE = 4
"""Comparisons that take as many registers as a value that is kept."""


def part(tile: Tile, op: Op) -> str:
    """One of several results: of a selection, or of what only cuts."""
    source = tile.program.ops[op.reads[0]]
    if source.base in SPLITS and is_view(tile.program, op):
        operand, text = viewed_columns(tile.program, op, tile.rows)
        return tile.moved(operand, text, op.name)
    if source.name not in tile.members:
        raise NotInRegisters(op.name)
    return places(tile, op, source) if int(op.args[1].constant) == 1 else _values(tile, op, source)


def argument_of_extreme(tile: Tile, op: Op) -> str:
    return places(tile, op, op)


def _selected(tile: Tile, op: Op) -> tuple[str, str, Chosen]:
    """The best keys with their places and what the rounds left."""
    if op.name in tile.rounds:
        return tile.rounds[op.name]
    found = chosen(tile.program, op)
    if found is None:
        raise NotInRegisters(op.name)
    values, mask, _ = tile.grouped(found.operand)
    keys = f"_float_keys({values})" if tile.dtype(found.operand) in FLOATS else f"{values}.to(tl.int32)"
    slots = power_of_two(found.count)
    keys = keys if found.largest else f"~{keys}"
    best, left = tile.named("best"), tile.named("left")
    tile.lines.append(f"{best}, {left} = _largest({keys}, {mask or 'True'}, {found.count}, {slots})")
    if not found.in_order and shows_order(tile.program, op):
        tile.depends_on_order = True
        best = tile.assigned("best", f"_as_they_stand({best}, {found.count}, {slots})")
        tile.widest = max(tile.widest, slots * slots // _COMPARED_A_VALUE)
    tile.rounds[op.name] = best, left, found
    return tile.rounds[op.name]


def _sizes(tile: Tile, found: Chosen) -> tuple[int, int]:
    return tile.flat(found.operand).groups[0], found.count


def places(tile: Tile, op: Op, source: Op) -> str:
    best, _, found = _selected(tile, source)
    text = f"0x7FFFFFFF - ({best} & 0x7FFFFFFF)"
    slots = power_of_two(found.count)
    if slots != found.count:
        text = f"tl.where(tl.arange(0, {slots})[None, None, :] < {found.count}, {text}, 0)"
    return tile.flattened(text, _sizes(tile, found), op.name)


def _values(tile: Tile, op: Op, source: Op) -> str:
    best, _, found = _selected(tile, source)
    keys = f"({best} >> 32).to(tl.int32)"
    keys = keys if found.largest else f"~{keys}"
    dtype = tile.dtype(found.operand)
    text = f"_float_values({keys})" if dtype in FLOATS else f"({keys}).to({TL[dtype]})"
    return tile.flattened(text, _sizes(tile, found), op.name)


def gathered(tile: Tile, op: Op) -> str:
    source, index = op.args[0].name, op.args[2].name
    _check_last(tile, op)
    given, own = tile.flat(source), tile.flat(index)
    if given.sizes[:-1] != own.sizes[:-1] or (given.lead and given.lead != own.lead):
        raise NotInRegisters(op.name)
    place = f"{tile.value(index)}.to(tl.int32)"
    column = tile.columns(own.padded)
    if own.groups[0] > 1:
        place = f"({column} // {own.sizes[-1]}) * {given.sizes[-1]} + {place}"
    if own.width != own.padded:
        place = f"tl.where({column} < {own.width}, {place}, 0)"
    if tile.dtype(source) == "bool":
        raise NotInRegisters(op.name)
    held = f"tl.broadcast_to({tile.value(source)}, (R, {given.padded}))"
    return tile.assigned(op.name, tile.picked(held, place, own.padded))


def scattered(tile: Tile, op: Op) -> str:
    """A constant, or one value for each place; places that were chosen are unlike each other."""
    _check_last(tile, op)
    base, index, dtype = op.args[0].name, op.args[2].name, tile.dtype(op.name)
    own, found = tile.flat(base), _source_of_places(tile, index)
    if found is None or own.sizes != tile.flat(found[0]).sizes:
        raise NotInRegisters(op.name)
    if op.target != "scatter.value":
        return tile.assigned(op.name, rounded(_spread(tile, op, own), dtype))
    taken = tile.flattened(f"({found[1]} == {TAKEN})", own.groups, "taken")
    value = converted(tile.number(op.args[3]), "number", "float32" if dtype in FLOATS else dtype)
    return tile.assigned(op.name, rounded(f"tl.where({taken}, {value}, {tile.value(base)})", dtype))


def _spread(tile: Tile, op: Op, own: Flat) -> str:
    base, index, source = (op.args[place].name for place in (0, 2, 3))
    slots = tile.flat(index)
    if len(own.sizes) != 1 or tile.flat(source) != slots or own.padded * slots.padded > _MOST_COMPARED:
        raise NotInRegisters(op.name)
    place = f"tl.broadcast_to({tile.value(index)}, (R, {slots.padded}))[:, None, :]"
    text = f"(tl.arange(0, {own.padded})[None, :, None] == {place})"
    text += f" & (tl.arange(0, {slots.padded})[None, None, :] < {slots.width})"
    here = tile.assigned("here", text)
    tile.widest = max(tile.widest, own.padded * slots.padded // _COMPARED_A_VALUE)
    value = f"tl.broadcast_to({tile.value(source)}, (R, {slots.padded}))[:, None, :]"
    total = f"tl.sum(tl.where({here}, {value}, 0), axis=2)"
    return f"tl.where(tl.max({here}.to(tl.int32), axis=2) > 0, {total}, {tile.value(base)})"


def _source_of_places(tile: Tile, name: str) -> tuple[str, str] | None:
    """What the places were chosen of, and what the rounds left of it."""
    part = tile.program.ops.get(name)
    if part is None or part.base != "getitem" or int(part.args[1].constant) != 1:
        return None
    op = tile.program.ops[part.reads[0]]
    if op.name not in tile.members or name not in tile.members or chosen(tile.program, op) is None:
        return None
    _, left, found = _selected(tile, op)
    return found.operand, left


def _check_last(tile: Tile, op: Op) -> None:
    rank = len(tile.program.types[op.name].shape)
    if op.args[1].constant not in (-1, rank - 1) or not tile.flat(op.name).sizes:
        raise NotInRegisters(op.name)
