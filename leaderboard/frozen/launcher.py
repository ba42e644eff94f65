"""One kernel of a cubin, launched through the CUDA driver on torch's current stream.

This file is also the head of every frozen solution, so it needs nothing of the project.
"""

import base64
import ctypes
import zlib
from typing import Any

import torch

_DYNAMIC_SHARED_BYTES = 8
"""`CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES`."""
_WITHOUT_ASKING = 48 * 1024


def driver() -> Any:
    """torch has loaded it already; nothing is read from disk."""
    return ctypes.CDLL("libcuda.so.1")


class Frozen:
    """Loads at the first call, when torch has a context on the device of the tensors."""

    def __init__(
        self, packed: str, entry: str, grid: int, threads: int, shared_bytes: int, pointers: int
    ) -> None:
        """`packed` is the cubin, deflated, in base64."""
        self.image = zlib.decompress(base64.b64decode(packed))
        self.entry, self.grid, self.threads, self.shared_bytes = entry, grid, threads, shared_bytes
        self.pointers = [ctypes.c_uint64() for _ in range(pointers)]
        self.cycles = ctypes.c_int32()
        values = [*self.pointers, self.cycles, ctypes.c_uint64(0), ctypes.c_uint64(0)]
        self._kept = values  # the driver reads them by address, at every launch
        self.arguments = (ctypes.c_void_p * len(values))(*(ctypes.addressof(value) for value in values))
        self.function: Any = None

    def __call__(self, *tensors: torch.Tensor, cycles: int = 0) -> None:
        """`cycles` keeps every program waiting at its end; a sentinel never does."""
        if self.function is None:
            self._load()
        for pointer, tensor in zip(self.pointers, tensors, strict=True):
            pointer.value = tensor.data_ptr()
        self.cycles.value = cycles
        stream = ctypes.c_void_p(torch.cuda.current_stream().cuda_stream)
        self._good(
            self.cuda.cuLaunchKernel(
                self.function,
                self.grid,
                1,
                1,
                self.threads,
                1,
                1,
                self.shared_bytes,
                stream,
                self.arguments,
                None,
            )
        )

    def _load(self) -> None:
        self.cuda = driver()
        module, function = ctypes.c_void_p(), ctypes.c_void_p()
        self._good(self.cuda.cuModuleLoadData(ctypes.byref(module), self.image))
        self._good(self.cuda.cuModuleGetFunction(ctypes.byref(function), module, self.entry.encode()))
        if self.shared_bytes > _WITHOUT_ASKING:
            self._good(self.cuda.cuFuncSetAttribute(function, _DYNAMIC_SHARED_BYTES, self.shared_bytes))
        self.function = function

    def _good(self, code: int) -> None:
        if code:
            raise RuntimeError(f"{self.entry}: the CUDA driver answers {code}")
