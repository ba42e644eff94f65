"""Which GPUs a candidate's machine code is for, as its flags and texts name them."""

import re
from collections.abc import Iterable
from typing import NamedTuple

_NAMED = re.compile(r"\b(sm|compute|lto)_(\d{2,3})([af]?)\b")
_GENCODE = re.compile(r"arch=compute_\d{2,3}[af]?,code=\[?([\w,]+)")


class Code(NamedTuple):
    """`sm_90a`: machine code (`sm`, `lto`) or PTX (`compute`), a number, and a letter or nothing."""

    kind: str
    number: int
    letter: str

    def __str__(self) -> str:
        return f"{self.kind}_{self.number}{self.letter}"

    def runs_on(self, capability: tuple[int, int]) -> bool:
        """Machine code runs on its own major number, from its own minor one on; PTX on every later GPU.

        With the letter `a` both run on exactly one, with `f` on their own major number.
        """
        own = divmod(self.number, 10)
        if self.letter == "a":
            return own == capability
        if self.kind == "compute" and not self.letter:
            return own <= capability
        return own[0] == capability[0] and own[1] <= capability[1]


def named(text: str) -> tuple[Code, ...]:
    """In the order they are first named."""
    found = (Code(kind, int(number), letter) for kind, number, letter in _NAMED.findall(text))
    return tuple(dict.fromkeys(found))


def of_flags(flags: Iterable[str]) -> tuple[Code, ...]:
    """What nvcc puts into the file: of `-gencode arch=..,code=..` the code alone, of `-arch=sm_x` its PTX as well."""
    text = " ".join(flags)
    coded = [code for listed in _GENCODE.findall(text) for code in named(listed)]
    rest = named(_GENCODE.sub(" ", text))
    return tuple(dict.fromkeys([*coded, *rest, *(code._replace(kind="compute") for code in rest)]))
