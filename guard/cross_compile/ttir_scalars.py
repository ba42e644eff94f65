"""Integer arithmetic as TTIR writes it: what loop bounds and block indices are computed with."""

import operator
import re
from collections.abc import Callable


def _towards_zero(a: int, b: int) -> int:
    quotient = abs(a) // abs(b)
    return quotient if (a < 0) == (b < 0) else -quotient


_INTEGERS: dict[str, Callable[[int, int], int]] = {
    "arith.addi": operator.add, "arith.subi": operator.sub, "arith.muli": operator.mul,
    "arith.divsi": _towards_zero, "arith.divui": operator.floordiv,
    "arith.ceildivsi": lambda a, b: -(-a // b), "arith.floordivsi": operator.floordiv,
    "arith.remsi": lambda a, b: a - b * _towards_zero(a, b), "arith.remui": operator.mod,
    "arith.minsi": min, "arith.maxsi": max, "arith.minui": min, "arith.maxui": max,
    "arith.andi": operator.and_, "arith.ori": operator.or_, "arith.xori": operator.xor,
    "arith.shli": lambda a, b: a << min(b, 64), "arith.shrsi": operator.rshift, "arith.shrui": operator.rshift,
}  # fmt: skip
_COMPARISONS: dict[str, Callable[[int, int], bool]] = {
    "eq": operator.eq, "ne": operator.ne, "slt": operator.lt, "sle": operator.le, "sgt": operator.gt,
    "sge": operator.ge, "ult": operator.lt, "ule": operator.le, "ugt": operator.gt, "uge": operator.ge,
}  # fmt: skip
_SAME_VALUE = ("arith.extsi", "arith.extui", "arith.trunci", "arith.index_cast")


def evaluate(name: str, text: str, known: list[int]) -> int | None:
    """An integer operation on known values; None for one that is not listed."""
    if name in _SAME_VALUE:
        return known[0]
    if name == "arith.select" and len(known) == 3:
        return known[1] if known[0] else known[2]
    if name == "arith.cmpi":
        return int(_COMPARISONS[text.split()[1].rstrip(",")](known[0], known[1]))
    if name in _INTEGERS and len(known) == 2:
        try:
            return _INTEGERS[name](known[0], known[1])
        except (ZeroDivisionError, ValueError, OverflowError):
            return None
    return None


def constant(text: str) -> int | None:
    word = text.split()[1]
    if word in ("true", "false"):
        return int(word == "true")
    return int(word) if re.fullmatch(r"-?\d+", word) else None
