"""One Triton kernel: a tile of rows and columns in which values are worked out from what has to be loaded.

A value is asked for at an index, one expression for each of its dimensions, and asks its operands in turn; views only
change the index. What is stored in memory is loaded there, and nothing is worked out twice at one index.
"""

import re

from agents.rewrite.kernel import Kernel, MustBeStored
from agents.rewrite.pointwise import TL, converted, expression, rounded, tensor_arguments
from agents.rewrite.program import Number, Op, Program, Ref, Vector, product
from agents.rewrite.rows import epsilon, is_rows, keeps_dimension, keeps_shape, reduced, row_length
from agents.rewrite.views import (
    Index,
    broadcast_index,
    held,
    is_padding,
    is_view,
    padded_index,
    source_index,
)


class Writer:
    """Fills a `Kernel`. `stored` are the values that are in memory before it or by it; `dense` those laid out plainly."""

    def __init__(self, program: Program, kernel: Kernel, stored: set[str], dense: set[str]) -> None:
        self.program, self.kernel, self.stored, self.dense = program, kernel, stored, dense
        self._made: dict[tuple[str, Index, str], tuple[str, str]] = {}
        self._lead: Index = ()
        self._count = 0

    def write(self) -> None:
        """The body of the kernel, one root after the other."""
        rank = len(self.kernel.domain)
        self._lead = tuple(
            "0" if set(self.kernel.domain[place]) == {1} else f"i{place}" for place in range(rank - 1)
        )
        for root in self.kernel.roots:
            self._store(root)

    def _store(self, root: str) -> None:
        typed, domain = self.program.types[root], self.kernel.domain
        row_only = typed.shape != domain
        text, kind = self._value(root, self._root_index(root))
        columns = self.kernel.size(domain[-1])
        place = "row" if row_only else f"row * {columns} + c"
        mask = "rows_in" if row_only else "rows_in & columns_in"
        tile = "(R, 1)" if row_only else "(R, C)"
        value = (
            f"tl.full({tile}, {text}, tl.float32)" if kind == "number" else f"tl.broadcast_to({text}, {tile})"
        )
        self.kernel.lines.append(
            f"tl.store(out_{root} + {place}, {value}.to({TL[typed.dtype]}), mask={mask})"
        )

    def _value(self, name: str, index: Index, condition: str = "") -> tuple[str, str]:
        """The variable (or number) that holds the value at `index`, and its element type."""
        key = (name, index, condition)
        if key not in self._made:
            # what was worked out for all places serves where only some are wanted
            whole = self._made.get((name, index, ""))
            self._made[key] = whole or self._make(name, index, condition)
        return self._made[key]

    def _make(self, name: str, index: Index, condition: str) -> tuple[str, str]:
        op = self.program.ops.get(name)
        if name in self.program.constants and not self.program.types[name].shape:
            return repr(self.program.constants[name]), "number"
        is_own = name in self.kernel.roots
        if is_own and index != self._root_index(name):
            raise MustBeStored(name)
        if op is None or (name in self.stored and not is_own):
            return self._loaded(name, index, condition)
        if is_view(self.program, op):
            source, place = source_index(self.program, op, index, self.kernel.size)
            return self._value(source, place, condition)
        if op.base in ("cat", "stack"):
            return self._joined(op, index, condition)
        if is_padding(self.program, op):
            return self._padded(op, index, condition)
        if is_rows(self.program, op):
            return self._of_rows(op, index)
        return self._pointwise(op, index, condition)

    def _root_index(self, name: str) -> Index:
        """Where the tile stands in a root; one of a value a row may have kept the dimension."""
        shape, domain = self.program.types[name].shape, self.kernel.domain
        if shape == domain:
            return (*self._lead, "c")
        return (*self._lead, "0") if len(shape) == len(domain) else self._lead

    def _pointwise(self, op: Op, index: Index, condition: str) -> tuple[str, str]:
        dtype = self.program.types[op.name].dtype
        operands = [self._operand(argument, index, condition) for argument in tensor_arguments(op)]
        return self._assigned(op.name, rounded(expression(op, dtype, operands), dtype)), dtype

    def _operand(self, argument: object, index: Index, condition: str) -> tuple[str, str]:
        if isinstance(argument, Ref):
            shape = self.program.types[argument.name].shape
            return self._value(argument.name, broadcast_index(index, shape), condition)
        assert isinstance(argument, Number)
        if argument.constant is None:
            return self.kernel.size(argument.values), "number"
        return _literal(argument.constant), "number"

    def _joined(self, op: Op, index: Index, condition: str) -> tuple[str, str]:
        """Pieces laid side by side along one dimension; each is loaded only where it is wanted."""
        dtype = self.program.types[op.name].dtype
        dim = op.args[1] if len(op.args) > 1 else op.kwargs.get("dim", Number((0,)))
        place = int(dim.constant or 0) % len(index)
        text, at, size = "", held(index[place]), self.kernel.size
        for name, start, end in reversed(_with_starts(self.program, op, place)):
            part = index[place] if set(start) == {0} else f"{at} - {size(start)}"
            inner = (*index[:place], part, *index[place + 1 :])
            if op.base == "stack":
                inner = (*index[:place], *index[place + 1 :])
            here = f"({at} >= {size(start)}) & ({at} < {size(end)})"
            wanted = f"{condition} & {here}" if condition else here
            piece = converted(*self._value(name, inner, wanted), dtype)
            text = piece if not text else f"tl.where({at} < {size(end)}, {piece}, {text})"
        return self._assigned(op.name, text), dtype

    def _padded(self, op: Op, index: Index, condition: str) -> tuple[str, str]:
        place, inside = padded_index(self.program, op, index, self.kernel.size)
        wanted = f"{condition} & {inside}" if condition and inside else condition or inside
        text, kind = self._value(op.reads[0], place, wanted)
        if not inside:
            return text, kind
        nothing = "0.0" if "float" in kind else "0"
        return self._assigned(op.name, f"tl.where({inside}, {text}, {nothing})"), kind

    def _of_rows(self, op: Op, index: Index) -> tuple[str, str]:
        """Needs the whole row of the operand, so the rest of the index must be the same along the tile's row."""
        operand = op.reads[0]
        lead = index[:-1] if keeps_shape(op) or keeps_dimension(op) else index
        fits = row_length(self.program, op) == self.kernel.domain[-1] and self.kernel.has_rows
        if not fits or any(_has_word(part, "c") for part in lead):
            raise MustBeStored(op.name)
        x, kind = self._value(operand, (*lead, "c"))
        x = converted(x, kind, "float32")
        dtype = self.program.types[op.name].dtype
        length = self.kernel.size(self.kernel.domain[-1])
        if not keeps_shape(op):
            return self._assigned(op.name, rounded(reduced(op, x, "columns_in", length), dtype)), dtype
        if index[-1] != "c":
            raise MustBeStored(op.name)
        return self._assigned(op.name, rounded(self._whole_row(op, x, length), dtype)), dtype

    def _whole_row(self, op: Op, x: str, length: str) -> str:
        if op.base in ("softmax", "_softmax"):
            most = self._assigned(
                "most", f'tl.max(tl.where(columns_in, {x}, float("-inf")), axis=1, keep_dims=True)'
            )
            power = self._assigned("power", f"tl.where(columns_in, tl.exp({x} - {most}), 0.0)")
            return f"{power} / tl.sum({power}, axis=1, keep_dims=True)"
        centred = x
        if op.base == "layer_norm":
            mean = f"tl.sum(tl.where(columns_in, {x}, 0.0), axis=1, keep_dims=True) / ({length} * 1.0)"
            centred = self._assigned("centred", f"{x} - {self._assigned('mean', mean)}")
        squares = f"tl.sum(tl.where(columns_in, {centred} * {centred}, 0.0), axis=1, keep_dims=True)"
        spread = self._assigned("spread", f"{squares} / ({length} * 1.0)")
        text = f"{centred} * tl.rsqrt({spread} + {epsilon(op)!r})"
        for place, joiner in ((2, "*"), (3, "+")):
            weight = op.args[place] if len(op.args) > place else None
            if isinstance(weight, Ref):
                value = converted(*self._value(weight.name, ("c",)), "float32")
                text = f"({text}) {joiner} {value}"
        return text

    def _loaded(self, name: str, index: Index, condition: str) -> tuple[str, str]:
        typed = self.program.types.get(name)
        if typed is None:
            raise MustBeStored(name)
        pointer = self.kernel.tensors.setdefault(name, f"p_{name}")
        place = self._place(name, index)
        nothing = "0.0" if typed.dtype in TL and "float" in typed.dtype else "0"
        text = f"tl.load({pointer} + {place}{self._mask(place, condition, nothing)})"
        wide = text if typed.dtype not in _NARROW else f"{text}.to(tl.float32)"
        return self._assigned(f"{name}_in", wide if typed.dtype != "bool" else f"{text} != 0"), typed.dtype

    def _mask(self, place: str, condition: str, nothing: str) -> str:
        parts = []
        if re.search(r"\b(row|i\d+)\b", place):
            parts.append("rows_in")
        if _has_word(place, "c"):
            parts.append("columns_in")
        if condition:
            parts.append(f"({condition})")
        return f", mask={' & '.join(parts)}, other={nothing}" if parts else ""

    def _place(self, name: str, index: Index) -> str:
        shape = self.program.types[name].shape
        if name in self.dense:
            if shape == self.kernel.domain and index == (*self._lead, "c"):
                return f"row * {self.kernel.size(shape[-1])} + c"
            after = [product(shape[place + 1 :], self.program.workloads) for place in range(len(shape))]
            steps = ["" if set(vector) == {1} else self.kernel.size(vector) for vector in after]
        else:
            steps = [self._stride(name, place) for place in range(len(shape))]
        terms = [
            held(part) if not step else f"{held(part)} * {step}"
            for part, step in zip(index, steps, strict=True) if part != "0"
        ]  # fmt: skip
        return " + ".join(terms) or "0"

    def _stride(self, name: str, place: int) -> str:
        parameter = f"s_{name}_{place}"
        self.kernel.strides[parameter] = (name, place)
        return parameter

    def _assigned(self, wish: str, text: str) -> str:
        variable = f"v{self._count}_{wish}"
        self._count += 1
        self.kernel.lines.append(f"{variable} = {text}")
        return variable


_NARROW = ("float16", "bfloat16", "float8_e4m3fn")


def _with_starts(program: Program, op: Op, place: int) -> list[tuple[str, Vector, Vector]]:
    """Every piece with where it starts and ends along the dimension."""
    found: list[tuple[str, Vector, Vector]] = []
    start = program.one(0)
    for ref in op.args[0]:
        size = program.one() if op.base == "stack" else program.types[ref.name].shape[place]
        end = tuple(a + b for a, b in zip(start, size, strict=True))
        found.append((ref.name, start, end))
        start = end
    return found


def _literal(value: object) -> str:
    if isinstance(value, float) and (value != value or value in (float("inf"), float("-inf"))):
        return f'float("{value}")'
    return repr(value)


def _has_word(text: str, word: str) -> bool:
    return re.search(rf"\b{word}\b", text) is not None
