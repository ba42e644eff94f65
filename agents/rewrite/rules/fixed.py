"""Values that depend on sizes alone, worked out: what a mask that the reference builds really is."""

from typing import Any

from agents.rewrite.program import Number, Program, Ref

_MOST = 1 << 29
"""Bytes of what is worked out; a mask of more is taken as it is."""
_LIKE = {"full_like", "zeros_like", "ones_like", "empty_like", "new_full", "new_zeros", "new_ones"}


def is_fixed(program: Program, name: str) -> bool:
    """Whether it is the same whatever the inputs hold."""
    waiting, seen = [name], set()
    while waiting:
        current = waiting.pop()
        if current in program.inputs:
            return False
        op = program.ops.get(current)
        if current not in seen and op is not None and op.base not in _LIKE:
            waiting += op.reads
        seen.add(current)
    return True


def worked_out(program: Program, name: str, place: int) -> Any:
    """The tensor at the sizes of one workload; None when it is too large or torch does not do it here."""
    try:
        return _Worker(program, place).value(Ref(name))
    except (RuntimeError, TypeError, AttributeError, KeyError, MemoryError):
        return None


class _Worker:
    def __init__(self, program: Program, place: int) -> None:
        self._program, self._place = program, place
        self._values: dict[str, Any] = {}

    def value(self, argument: Any) -> Any:
        if isinstance(argument, Ref):
            if argument.name not in self._values:
                self._values[argument.name] = self._made(argument.name)
            return self._values[argument.name]
        if isinstance(argument, Number):
            return argument.values[self._place]
        if isinstance(argument, tuple):
            return [self.value(item) for item in argument]
        return _word(argument)

    def _made(self, name: str) -> Any:
        import torch

        if name in self._program.constants:
            return torch.tensor(self._program.constants[name], dtype=self._dtype(name))
        op = self._program.ops[name]
        self._check(name)
        if op.base == "getitem":
            return self.value(op.args[0])[self.value(op.args[1])]
        args = [self.value(item) for item in (op.args[1:] if op.base in _LIKE else op.args)]
        if op.base in _LIKE:
            shape = [size[self._place] for size in self._program.types[op.reads[0]].shape]
            args = [torch.empty((), dtype=self._dtype(op.reads[0])).expand(shape), *args]
        base, _, overload = op.target.partition(".")
        function = getattr(getattr(torch.ops.aten, base), overload)
        return function(*args, **{key: self.value(item) for key, item in op.kwargs.items()})

    def _check(self, name: str) -> None:
        typed = self._program.types.get(name)
        if typed is None:
            return
        if typed.elements[self._place] * self._dtype(name).itemsize > _MOST:
            raise MemoryError(name)

    def _dtype(self, name: str) -> Any:
        import torch

        return getattr(torch, self._program.types[name].dtype)


def _word(argument: Any) -> Any:
    import torch

    if not isinstance(argument, str):
        return argument
    if argument.startswith("torch."):
        return getattr(torch, argument.removeprefix("torch."))
    return torch.device("cpu") if argument.split(":")[0] in ("cpu", "cuda", "meta") else argument
