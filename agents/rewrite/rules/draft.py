"""A program being changed: operations put in, and names given new values."""

from dataclasses import replace
from typing import Any

from agents.rewrite.cleanup import cleaned
from agents.rewrite.program import Number, Op, Program, Ref, Typed, Vector, replaced

Shape = tuple[Vector, ...]


class Draft:
    """Each method gives the name of its result, or `name` where nothing is to do."""

    def __init__(self, program: Program) -> None:
        self.program = program
        self.types = dict(program.types)
        self._added: dict[str, Op] = {}
        self._helpers: dict[str, str] = {}
        self._widened: dict[str, str] = {}

    def op(self, wish: str, target: str, args: tuple[Any, ...], typed: Typed | None, **kwargs: Any) -> str:
        """Any operation of ATen; `typed` is None for one with several results."""
        taken = {*self.program.ops, *self.program.inputs, *self.types, *self._added}
        name = next(n for i in range(1, 999) if (n := wish if i == 1 else f"{wish}_{i}") not in taken)
        self._added[name] = Op(name, target, args, kwargs)
        if typed is not None:
            self.types[name] = typed
        return name

    def helper(
        self, name: str, source: str, args: tuple[Any, ...], typed: Typed | None, **kwargs: Any
    ) -> str:
        """A call of a function of that name, which the emitted module defines by `source`."""
        self._helpers[name] = source
        return self.op(name.lstrip("_"), f"helper.{name}", args, typed, **kwargs)

    def part(self, name: str, place: int, typed: Typed, wish: str) -> str:
        """One of several results."""
        return self.op(wish, "getitem", (Ref(name), self.number(place)), typed)

    def number(self, value: int | float) -> Number:
        return Number((value,) * self.program.workloads)

    def permute(self, name: str, order: tuple[int, ...]) -> str:
        if order == tuple(range(len(order))):
            return name
        typed = self.types[name]
        shape = tuple(typed.shape[place] for place in order)
        args = (Ref(name), tuple(self.number(place) for place in order))
        return self.op(f"{name}_turned", "permute.default", args, replace(typed, shape=shape))

    def reshape(self, name: str, shape: Shape) -> str:
        return self._sized(name, shape, "reshape.default", "shaped")

    def expand(self, name: str, shape: Shape) -> str:
        return self._sized(name, shape, "expand.default", "spread")

    def _sized(self, name: str, shape: Shape, target: str, wish: str) -> str:
        typed = self.types[name]
        if typed.shape == shape:
            return name
        args = (Ref(name), tuple(Number(size) for size in shape))
        return self.op(f"{name}_{wish}", target, args, replace(typed, shape=shape))

    def cast(self, name: str, dtype: str) -> str:
        typed = self.types[name]
        if typed.dtype == dtype:
            return name
        made = self.op(f"{name}_cast", "to.dtype", (Ref(name), f"torch.{dtype}"), replace(typed, dtype=dtype))
        if dtype == "float32" and typed.dtype in ("bfloat16", "float16"):
            self._widened[made] = name
        return made

    def broadcast(self, *names: str) -> Shape:
        """The shape of what is made of these element by element."""
        shapes = [self.types[name].shape for name in names]
        rank = max(map(len, shapes))
        one = self.program.one()
        padded = [(one,) * (rank - len(shape)) + shape for shape in shapes]
        return tuple(
            next((size for size in sizes if size != one), one) for sizes in zip(*padded, strict=True)
        )

    def done(self, names: dict[str, str]) -> Program:
        """The program with every key of `names` replaced by its value, without what nothing reads any more."""
        names = {**names, **self._narrowed_again(names)}
        ops = {**self._added}
        for name, op in self.program.ops.items():
            ops[name] = Op(name, op.target, replaced(op.args, names), replaced(op.kwargs, names))
        results = tuple(names.get(name, name) for name in self.program.results)
        helpers = {**self.program.helpers, **self._helpers}
        ordered = _ordered(ops, [*self.program.ops, *self._added])
        return cleaned(replace(self.program, ops=ordered, types=self.types, results=results, helpers=helpers))

    def _narrowed_again(self, names: dict[str, str]) -> dict[str, str]:
        """Casts of what was only just widened from their own type."""
        found: dict[str, str] = {}
        for op in self.program.ops.values():
            if op.base in ("to", "_to_copy") and op.reads:
                source = self._widened.get(names.get(op.reads[0], ""))
                if source is not None and self.types[source] == self.types.get(op.name):
                    found[op.name] = source
        return found


def _ordered(ops: dict[str, Op], names: list[str]) -> dict[str, Op]:
    """`ops` in the order of `names`, but each after all it reads."""
    found: dict[str, Op] = {}
    waiting = names[::-1]
    while waiting:
        name = waiting[-1]
        missing = [read for read in ops[name].reads if read in ops and read not in found]
        if name in found or not missing:
            found.setdefault(name, ops[name])
            waiting.pop()
        waiting += [] if name in found else missing
    return found
