"""Host memory: an anonymous file that cannot be shrunk under the other side's feet."""

import fcntl
import mmap
import os
from typing import Self

import torch

from guard.buffers.base import Buffer


class MemfdBuffer(Buffer):
    name = "memfd"

    def __init__(self, fd: int, size: int) -> None:
        self.fd, self.size = fd, size
        self._map = mmap.mmap(fd, size)

    @classmethod
    def make(cls, size: int) -> Self:
        fd = os.memfd_create("kernelarc", os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING)
        size = max(size, mmap.PAGESIZE)
        os.ftruncate(fd, size)
        fcntl.fcntl(fd, fcntl.F_ADD_SEALS, fcntl.F_SEAL_SHRINK | fcntl.F_SEAL_GROW | fcntl.F_SEAL_SEAL)
        return cls(fd, size)

    @classmethod
    def attach(cls, fd: int, size: int) -> Self:
        return cls(fd, size)

    def raw(self, offset: int, count: int) -> torch.Tensor:
        if count == 0:
            return torch.empty(0, dtype=torch.uint8)
        return torch.frombuffer(self._map, dtype=torch.uint8, count=count, offset=offset)

    def clear(self) -> None:
        """Its pages are given back, so that a large buffer of which little was used stays small."""
        try:
            self._map.madvise(mmap.MADV_REMOVE)
        except OSError:
            super().clear()

    def close(self) -> None:
        os.close(self.fd)
