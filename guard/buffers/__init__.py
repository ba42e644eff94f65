"""Memory that the reference owns and the worker maps: one kind a device."""

import torch

from guard.buffers.base import Buffer
from guard.buffers.memfd import MemfdBuffer
from guard.buffers.vmm import VmmBuffer

BUFFERS: dict[str, type[Buffer]] = {"cpu": MemfdBuffer, "cuda": VmmBuffer}

_SPARE_BYTES = 4 << 30


def give_back_spare(device: torch.device) -> None:
    """Return what this process keeps of a GPU's memory without using it, when it is much: others need it."""
    if device.type == "cuda" and torch.cuda.memory_reserved() - torch.cuda.memory_allocated() > _SPARE_BYTES:
        torch.cuda.empty_cache()


__all__ = ["BUFFERS", "Buffer", "give_back_spare"]
