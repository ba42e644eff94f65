"""A kernel over whole rows being written: every value a tile of rows by a power of two of columns."""

import re
from collections.abc import Callable
from typing import Any

from agents.rewrite.pointwise import TL
from agents.rewrite.program import Number, Op, Program, Ref, Vector
from agents.rewrite.selection.chosen import Chosen
from agents.rewrite.selection.flat import (
    Flat,
    NotInRegisters,
    broadcast_columns,
    columns,
    flat,
    power_of_two,
)

_NARROW = ("float16", "bfloat16", "float8_e4m3fn")


class Tile:
    """Fills `lines`; `tensors` and `numbers` are the parameters by what they stand for."""

    def __init__(
        self, program: Program, rows: Vector, members: set[str], work_out: "Callable[[Tile, Op], str]"
    ) -> None:
        self.program, self.rows, self.members = program, rows, members
        self.lines: list[str] = []
        self.tensors: dict[str, str] = {}
        self.numbers: dict[str, tuple[int | float, ...]] = {}
        self.widths: set[int] = set()
        """Numbers of columns for which the kernel needs their indices."""
        self.widest = 1
        """Values a row of the widest tile."""
        self.depends_on_order = False
        self.moves_columns = False
        self.rounds: dict[str, tuple[str, str, Chosen]] = {}
        """By selection: the best keys, what the rounds left, and what was chosen."""
        self._work_out = work_out
        self._made: dict[str, str] = {}
        self._count = 0

    def flat(self, name: str) -> Flat:
        found = flat(self.program, name, self.rows)
        if found is None:
            raise NotInRegisters(name)
        return found

    def dtype(self, name: str) -> str:
        return self.program.types[name].dtype

    def store(self, root: str) -> None:
        own, dtype = self.flat(root), self.dtype(root)
        text = f"tl.broadcast_to({self.value(root)}, (R, {own.padded})).to({TL[dtype]})"
        place = f"row * {own.width} + {self.columns(own.padded)}"
        self.lines.append(f"tl.store(out_{root} + {place}, {text}, mask={self._mask(own, True)})")

    def value(self, name: str) -> str:
        """The variable that holds it; `NotInRegisters` names the operation in the way."""
        if name not in self._made:
            is_member = name in self.program.ops and name in self.members
            self._made[name] = (
                self._work_out(self, self.program.ops[name]) if is_member else self._loaded(name)
            )
            self.widest = max(self.widest, self.flat(name).padded)
        return self._made[name]

    def _loaded(self, name: str) -> str:
        own, dtype = self.flat(name), self.dtype(name)
        if self.is_number(name):
            return repr(self.program.constants[name])
        if dtype not in TL:
            raise NotInRegisters(name)
        pointer = self.tensors.setdefault(name, f"p_{name}")
        place = self.columns(own.padded)
        mask = self._mask(own, bool(own.lead))
        text = f"tl.load({pointer} + {f'row * {own.width} + ' if own.lead else ''}{place}"
        text += f", mask={mask}, other={'0.0' if 'float' in dtype else '0'})" if mask else ")"
        if dtype == "bool":
            text += " != 0"
        return self.assigned(f"{name}_in", text + (".to(tl.float32)" if dtype in _NARROW else ""))

    def is_number(self, name: str) -> bool:
        """A tensor of no dimensions that the reference spells out."""
        return name in self.program.constants and not self.program.types[name].shape

    def operand(self, argument: Any, own: Flat, op: Op) -> tuple[str, str]:
        """Text and element type of an argument of `op`, spread over its result."""
        if isinstance(argument, Number | bool):
            return self.number(argument), "number"
        if not isinstance(argument, Ref):
            raise NotInRegisters(op.name)
        name = argument.name
        if self.is_number(name):
            return self.value(name), "number"
        ranks = (len(self.program.types[op.name].shape), len(self.program.types[name].shape))
        text = broadcast_columns(own, self.flat(name), ranks)
        if text is None:
            raise NotInRegisters(op.name)
        return self.moved(name, text, op.name), self.dtype(name)

    def number(self, number: Number | bool) -> str:
        """A parameter where it differs from workload to workload."""
        value = number if isinstance(number, bool) else number.constant
        if isinstance(number, Number) and value is None:
            known = next((name for name, held in self.numbers.items() if held == number.values), None)
            name = known or f"n{len(self.numbers)}"
            self.numbers[name] = number.values
            return name
        is_odd = isinstance(value, float) and (value != value or value in (float("inf"), float("-inf")))
        return f'float("{value}")' if is_odd else repr(value)

    def moved(self, name: str, text: str, wanted: str) -> str:
        """The columns of `name` that `text` says, for each column `c` of `wanted` one."""
        given, own, value = self.flat(name), self.flat(wanted), self.value(name)
        places = columns(text, own.width)
        is_same = given.padded == own.padded and places == list(range(own.width))
        if given.width == 1 or is_same:
            return value
        is_many = bool(given.lead or own.lead)
        is_whether = self.dtype(name) == "bool"
        value = f"{value}.to(tl.int32)" if is_whether else value  # one bit cannot be gathered
        source = f"tl.broadcast_to({value}, ({'R' if is_many else 1}, {given.padded}))"
        column = self.columns(own.padded)
        index = re.sub(r"\bc\b", column, text)
        if own.width != own.padded:
            index = f"tl.where({column} < {own.width}, {index}, 0)"
        picked = self.picked(source, index, own.padded, is_many)
        return self.assigned(wanted, f"{picked} != 0" if is_whether else picked)

    def picked(self, source: str, index: str, width: int, is_many: bool = True) -> str:
        self.moves_columns = True
        return f"tl.gather({source}, tl.broadcast_to({index}, ({'R' if is_many else 1}, {width})), axis=1)"

    def grouped(self, name: str) -> tuple[str, str, int]:
        """A tile of rows, groups and columns of a group, a mask of the columns there are, and how many those are."""
        own = self.flat(name)
        if not own.sizes:
            raise NotInRegisters(name)
        groups, length = own.groups
        high, wide = power_of_two(groups), power_of_two(length)
        value = f"tl.broadcast_to({self.value(name)}, (R, {own.padded}))"
        if groups > 1 and length != wide:
            column = self.columns(high * wide)
            here = f"({column} % {wide} < {length}) & ({column} < {groups * wide})"
            index = f"tl.where({here}, ({column} // {wide}) * {length} + {column} % {wide}, 0)"
            value = self.assigned("spaced", self.picked(value, index, high * wide))
        self.widest = max(self.widest, high * wide)
        text = self.assigned("grouped", f"tl.reshape({value}, (R, {high}, {wide}))")
        return text, f"tl.arange(0, {wide})[None, None, :] < {length}" if length != wide else "", length

    def flattened(self, text: str, sizes: tuple[int, int], wish: str) -> str:
        """A tile of rows, groups and slots as one of rows and columns."""
        groups, count = sizes
        high, wide = power_of_two(groups), power_of_two(count)
        made = self.assigned(wish, f"tl.reshape({text}, (R, {high * wide}))")
        if groups == 1 or count == wide:
            return made
        width = power_of_two(groups * count)
        column = self.columns(width)
        index = (
            f"tl.where({column} < {groups * count}, ({column} // {count}) * {wide} + {column} % {count}, 0)"
        )
        return self.assigned(wish, self.picked(made, index, width))

    def columns(self, width: int) -> str:
        self.widths.add(width)
        return f"c{width}"

    def _mask(self, own: Flat, by_row: bool) -> str:
        parts = ["rows_in"] if by_row else []
        parts += [f"({self.columns(own.padded)} < {own.width})"] if own.width != own.padded else []
        return " & ".join(parts)

    def named(self, wish: str) -> str:
        self._count += 1
        return f"v{self._count - 1}_{wish}"

    def assigned(self, wish: str, text: str) -> str:
        variable = self.named(wish)
        self.lines.append(f"{variable} = {text}")
        return variable
