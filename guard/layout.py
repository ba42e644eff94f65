"""Where the tensors of one call lie in the shared buffers: plain arithmetic, the same on both sides."""

import math
import random
from collections.abc import Sequence

from tasks.value import Value

ALIGNMENT = 256
LARGEST_SHIFT = 2048
"""Shifts are multiples of 256 bytes up to this one: other offsets would make Triton compile anew."""


class Slot(Value):
    """One tensor in a buffer: byte offset, shape, strides in elements, and torch's name of its dtype."""

    offset: int
    shape: tuple[int, ...]
    strides: tuple[int, ...]
    dtype: str

    @property
    def span(self) -> int:
        """Elements between the first and the last one, both included; 0 when there is none."""
        if 0 in self.shape:
            return 0
        return 1 + sum((size - 1) * stride for size, stride in zip(self.shape, self.strides, strict=True))


class Scalar(Value):
    """A Python number that is passed as it is. Infinities travel as text: JSON has none."""

    value: int | float | bool | str

    def plain(self) -> int | float | bool:
        return float(self.value) if isinstance(self.value, str) else self.value


Argument = Slot | Scalar


class Call(Value):
    """What a worker needs to make one call, and all it is ever told of it."""

    arguments: tuple[Argument, ...]
    outputs: tuple[Slot, ...]


def scalar(value: float) -> Scalar:
    return Scalar(value=value if math.isfinite(value) else repr(value))


def contiguous(shape: Sequence[int]) -> tuple[int, ...]:
    """Row-major strides, in elements."""
    strides, step = [], 1
    for size in reversed(shape):
        strides.append(step)
        step *= max(size, 1)
    return tuple(reversed(strides))


def room(sizes_bytes: Sequence[int]) -> int:
    """Bytes that tensors of these sizes need at most, shifts included."""
    return sum(_aligned(size) + LARGEST_SHIFT for size in sizes_bytes) + ALIGNMENT


def offsets(sizes_bytes: Sequence[int], start: int, shifts: random.Random | None) -> list[int]:
    """Aligned offsets from `start` on; each tensor is pushed by a random multiple of 256 bytes when `shifts` is given."""
    found, cursor = [], start
    for size in sizes_bytes:
        if shifts is not None:
            cursor += ALIGNMENT * shifts.randrange(LARGEST_SHIFT // ALIGNMENT + 1)
        found.append(cursor)
        cursor += _aligned(size)
    return found


def _aligned(size: int) -> int:
    return -(-size // ALIGNMENT) * ALIGNMENT
