"""Memory that the reference owns and the worker maps: one kind a device."""

from guard.buffers.base import Buffer
from guard.buffers.memfd import MemfdBuffer
from guard.buffers.vmm import VmmBuffer

BUFFERS: dict[str, type[Buffer]] = {"cpu": MemfdBuffer, "cuda": VmmBuffer}

__all__ = ["BUFFERS", "Buffer"]
