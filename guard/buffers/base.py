"""The seam of shared memory: made by the reference, passed as a descriptor, mapped by the worker."""

from abc import ABC, abstractmethod
from typing import Self

import torch

from guard.layout import Slot


class Buffer(ABC):
    """`size` bytes behind the descriptor `fd`. Either side writes and reads without the other's help."""

    name: str
    """As it appears in the isolation level."""
    fd: int
    size: int

    @classmethod
    @abstractmethod
    def make(cls, size: int) -> Self:
        """New memory of at least `size` bytes."""

    @classmethod
    @abstractmethod
    def attach(cls, fd: int, size: int) -> Self:
        """The memory behind a descriptor that another process sent."""

    @abstractmethod
    def raw(self, offset: int, count: int) -> torch.Tensor:
        """`count` bytes from `offset` on, uint8; its storage starts there."""

    @abstractmethod
    def close(self) -> None:
        """Give the memory back; tensors made from it must not be used after."""

    def clear(self) -> None:
        """Zeros everywhere: what one worker left there the next may not find."""
        self.raw(0, self.size).zero_()

    def tensor(self, slot: Slot) -> torch.Tensor:
        """The tensor that `slot` describes; its storage starts at its own first element."""
        dtype: torch.dtype = getattr(torch, slot.dtype)
        flat = self.raw(slot.offset, slot.span * dtype.itemsize)
        return flat.view(dtype).as_strided(slot.shape, slot.strides)
