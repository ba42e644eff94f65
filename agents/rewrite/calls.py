"""Operations that torch is left with, written as a person would call them."""

from collections.abc import Callable
from typing import Any

from agents.rewrite.program import Number, Op, Ref

Sized = Callable[[Number], str]

_METHODS = {
    "view": "reshape", "reshape": "reshape", "_unsafe_view": "reshape", "expand": "expand", "permute": "permute",
    "transpose": "transpose", "unsqueeze": "unsqueeze", "squeeze": "squeeze", "contiguous": "contiguous",
    "flatten": "flatten", "unflatten": "unflatten", "repeat": "repeat", "t": "t", "select": "select", "narrow": "narrow",
    "laid_out": "contiguous",
}  # fmt: skip
_FUNCTIONS = {
    "mm": "torch.mm", "bmm": "torch.bmm", "matmul": "torch.matmul", "addmm": "torch.addmm", "linear": "F.linear",
    "scaled_dot_product_attention": "F.scaled_dot_product_attention", "cat": "torch.cat", "stack": "torch.stack",
    "softmax": "torch.softmax", "conv1d": "F.conv1d", "conv2d": "F.conv2d", "conv3d": "F.conv3d", "topk": "torch.topk",
    "mul": "torch.mul", "add": "torch.add", "sub": "torch.sub", "div": "torch.div", "sum": "torch.sum",
    "mean": "torch.mean", "exp": "torch.exp", "cumsum": "torch.cumsum", "gather": "torch.gather", "sort": "torch.sort",
    "sin": "torch.sin", "cos": "torch.cos", "outer": "torch.outer", "einsum": "torch.einsum", "where": "torch.where",
    "neg": "torch.neg", "rsqrt": "torch.rsqrt", "sqrt": "torch.sqrt", "arange": "torch.arange", "chunk": "torch.chunk",
    "split": "torch.split", "masked_fill": "torch.masked_fill", "pow": "torch.pow", "reciprocal": "torch.reciprocal",
    "logical_not": "torch.logical_not", "bitwise_and": "torch.bitwise_and",
}  # fmt: skip
_DROPPED = {"pin_memory", "layout", "memory_format", "non_blocking", "implicit"}


def called(op: Op, text: Sized, device: str) -> str:
    """An expression; `text` writes numbers, `device` is what stands for the reference's own."""
    args = [_written(argument, text, device) for argument in op.args]
    kwargs = {
        name: _written(value, text, device)
        for name, value in op.kwargs.items()
        if value is not None and (name not in _DROPPED or value is True)
    }
    if op.base == "getitem":
        return f"{args[0]}[{args[1]}]"
    if op.base == "helper":
        return f"{op.target.removeprefix('helper.')}({', '.join([*args, *_named(kwargs)])})"
    if op.base == "numpy_T":
        return f"{args[0]}.T"
    if op.target == "slice.Tensor":
        return _sliced(op, args)
    if op.target in ("to.dtype", "_to_copy.default"):
        return f"{args[0]}.to({kwargs.get('dtype') or args[1]})"
    if op.base in _METHODS:
        return f"{args[0]}.{_METHODS[op.base]}({', '.join(args[1:])})"
    if op.base in _FUNCTIONS:
        return f"{_FUNCTIONS[op.base]}({', '.join([*args, *_named(kwargs)])})"
    return f"torch.ops.aten.{op.target}({', '.join([*args, *_named(kwargs)])})"


def _sliced(op: Op, args: list[str]) -> str:
    dim = op.args[1].constant if len(op.args) > 1 else 0
    start, end = (args[place] if len(args) > place and args[place] != "None" else "" for place in (2, 3))
    end = "" if end.isdigit() and int(end) > 2**60 else end
    step = f":{args[4]}" if len(args) > 4 and args[4] != "1" else ""
    colons = ", ".join([":"] * int(dim)) + ", " if dim and dim > 0 else ""
    if dim is not None and dim < 0:
        after = ", :" * (-int(dim) - 1)
        return f"{args[0]}[..., {start or '0'}:{end}{step}{after}]"
    return f"{args[0]}[{colons}{start or '0'}:{end}{step}]"


def _written(value: Any, text: Sized, device: str) -> str:
    if isinstance(value, Ref):
        return value.name
    if isinstance(value, Number):
        found = text(value)
        return f'float("{found}")' if found in ("inf", "-inf", "nan") else found
    if isinstance(value, tuple):
        inner = ", ".join(_written(item, text, device) for item in value)
        return f"({inner},)" if len(value) == 1 else f"({inner})"
    if isinstance(value, str):
        return _word(value, device)
    return repr(value)


def _word(value: str, device: str) -> str:
    if value.split(":")[0] in ("cpu", "cuda", "meta"):
        return device
    return value if value.startswith("torch.") else repr(value)


def _named(kwargs: dict[str, str]) -> list[str]:
    return [f"{name}={value}" for name, value in kwargs.items()]
