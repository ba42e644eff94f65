"""What is written in place, as operations that make new values; and lists of slices, as the slices themselves.

Follows tensors by name: a view of what has been written since is looked up again in what was written. The result is a
list of operations in which no tensor changes, in the order of execution.
"""

from typing import Any

from agents.rewrite.loops.recurrence import NoLoop
from agents.rewrite.program import Number, Op, Program, Ref, Typed

_VIEWS = {
    "select",
    "slice",
    "narrow",
    "unsqueeze",
    "squeeze",
    "transpose",
    "t",
    "permute",
    "view",
    "expand",
    "numpy_T",
}
"""Operations whose result is memory of their operand's."""
_MAYBE = {
    "reshape",
    "flatten",
    "unflatten",
    "contiguous",
    "to",
    "chunk",
    "split",
    "getitem",
    "expand_as",
    "view_as",
}
"""Operations whose result may be."""
_SAME = {"detach", "alias", "lift_fresh_copy", "lift_fresh"}
_WRITABLE = {"select", "slice", "narrow"}


def unwritten(program: Program) -> Program:
    """The same results without writes; `NoLoop` where that cannot be told."""
    pass_ = _Pass(program)
    for op in program.ops.values():
        pass_.take(op)
    results = tuple(pass_.now(name) for name in program.results)
    return Program(program.followed, program.inputs, pass_.types, pass_.ops, results, program.constants)


class _Pass:
    def __init__(self, program: Program) -> None:
        self.program = program
        self.types, self.ops = dict(program.types), dict[str, Op]()
        self._held: dict[str, str] = {}
        """Where the value of a name of the reference's stands now."""
        self._views: dict[str, Op] = {}
        """By name of the reference's, how it was taken of another one."""
        self._version: dict[str, int] = {}
        self._seen: dict[str, int] = {}
        self._lists: dict[str, Op] = {}
        self._count = 0

    def take(self, op: Op) -> None:
        if op.base.endswith("_") and not op.base.endswith("__") and op.base not in ("detach_",):
            self._write(op)
        elif op.base in _SAME or op.base == "detach_" or self._is_whole(op):
            self._alias(op)
        elif op.base == "unbind":
            self._lists[op.name] = op
        elif op.base == "getitem" and op.reads[0] in self._lists:
            self._pick(op)
        else:
            self._keep(op)

    def now(self, name: str) -> str:
        """The name under which the value of a name of the reference's is found at this point."""
        view = self._views.get(name)
        if view is None:
            return self._held.get(name, name)
        if view.target == "same":
            return self.now(view.reads[0])
        if view.target == "picked" or self._seen[name] != self._version.get(self._root(name), 0):
            self._again(name, view)
        return self._held.get(name, name)

    def _again(self, name: str, view: Op) -> None:
        if view.base in _MAYBE:
            raise NoLoop(f"what {view.target} was taken of is written afterwards")
        target = "select.int" if view.target == "picked" else view.target
        made = self._made(
            target, self._renamed(view.args), self._renamed(view.kwargs), self.program.types[name]
        )
        self._held[name] = made
        self._seen[name] = self._version.get(self._root(name), 0)

    def _keep(self, op: Op) -> None:
        name = op.name
        self.ops[name] = Op(name, op.target, self._renamed(op.args), self._renamed(op.kwargs))
        if op.base in _VIEWS | _MAYBE and op.reads and self._is_same_type(op):
            self._views[name] = op
            self._seen[name] = self._version.get(self._root(name), 0)

    def _is_same_type(self, op: Op) -> bool:
        one, other = self.types.get(op.reads[0]), self.types.get(op.name)
        return one is None or other is None or one.dtype == other.dtype

    def _alias(self, op: Op) -> None:
        self._views[op.name] = Op(op.name, "same", op.args[:1])

    def _pick(self, op: Op) -> None:
        """Of `unbind`: a slice that is taken where it is used."""
        taken = self._lists[op.reads[0]]
        dim = taken.args[1] if len(taken.args) > 1 else taken.kwargs.get("dim", Number((0,)))
        self._views[op.name] = Op(op.name, "picked", (taken.args[0], dim, op.args[1]))

    def _is_whole(self, op: Op) -> bool:
        """A slice written as `:`; what has the whole size at one length only stays a slice."""
        if op.base != "slice" or not op.reads:
            return False
        start, end, step = (*op.args[2:], *(None,) * 5)[:3]
        return (
            getattr(start, "constant", 0) in (0, None)
            and (end is None or end.values[0] > 2**60)
            and getattr(step, "constant", 1) == 1
        )

    def _write(self, op: Op) -> None:
        target = op.args[0].name
        typed = self.program.types.get(target)
        if typed is None:
            raise NoLoop(f"{op.target} writes into several tensors")
        base = op.base[:-1]
        overload = op.target.split(".", 1)[1] if "." in op.target else "default"
        args, kwargs = self._renamed(op.args), self._renamed(op.kwargs)
        if base == "copy" and self._is_itself(args):
            new = args[1].name
        elif base == "copy":
            new = self._copied(args, typed)
        elif base in ("zero", "fill"):
            value = args[1] if base == "fill" else Number((0,))
            new = self._made("full_like.default", (args[0], value), {}, typed)
        else:
            new = self._made(f"{base}.{overload}", args, kwargs, typed)
        if new != args[0].name and not (base == "copy" and self._is_itself(args)):
            self._put(target, new)
        self._views.setdefault(op.name, Op(op.name, "same", op.args[:1]))

    def _is_itself(self, args: tuple[Any, ...]) -> bool:
        """A slice written back into where it was taken, as `y[t] += x` does after it has added."""
        into, source = (self.ops.get(arg.name) for arg in args[:2])
        if into is None or source is None:
            return False
        return into.base in _WRITABLE and (into.target, into.args) == (source.target, source.args)

    def _copied(self, args: tuple[Any, ...], typed: Typed) -> str:
        source: str = args[1].name
        of = self.types[source]
        if of.dtype != typed.dtype:
            of = Typed(of.shape, typed.dtype)
            source = self._made("to.dtype", (Ref(source), f"torch.{typed.dtype}"), {}, of)
        if of.shape != typed.shape:
            sizes = tuple(Number(size) for size in typed.shape)
            source = self._made("expand.default", (Ref(source), sizes), {}, typed)
        return source

    def _put(self, target: str, new: str) -> None:
        """`new` is what the tensor `target` of the reference's holds from here on."""
        view = self._views.get(target)
        if view is not None and view.target == "same":
            self._put(view.reads[0], new)
        elif view is None:
            if target in self.program.inputs:
                raise NoLoop(f"it writes into its input {target}")
            self._held[target] = new
            self._version[target] = self._version.get(target, 0) + 1
        else:
            if view.base not in _WRITABLE:
                raise NoLoop(f"it writes through {view.target}")
            self._scatter(view, new)

    def _scatter(self, view: Op, new: str) -> None:
        parent = view.args[0].name
        whole = self.now(parent)
        args = view.args[1:]
        if view.base == "narrow":
            end = tuple(int(a) + int(n) for a, n in zip(args[1].values, args[2].values, strict=True))
            args = (args[0], args[1], Number(end))
        kind = "select_scatter.default" if view.base == "select" else "slice_scatter.default"
        made = self._made(kind, (Ref(whole), Ref(new), *args), dict(view.kwargs), self.program.types[parent])
        self._put(parent, made)

    def _root(self, name: str) -> str:
        while name in self._views:
            name = self._views[name].reads[0]
        return name

    def _renamed(self, value: Any) -> Any:
        if isinstance(value, Ref):
            return Ref(self.now(value.name))
        if isinstance(value, dict):
            return {key: self._renamed(item) for key, item in value.items()}
        if isinstance(value, tuple):
            return tuple(self._renamed(item) for item in value)
        return value

    def _made(self, target: str, args: tuple[Any, ...], kwargs: dict[str, Any], typed: Typed) -> str:
        self._count += 1
        name = f"{target.split('.')[0]}_w{self._count}"
        self.ops[name] = Op(name, target, args, kwargs)
        self.types[name] = typed
        return name
