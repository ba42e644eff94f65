"""Device memory by the CUDA driver's virtual memory management, shared as a POSIX descriptor.

It needs no common process tree, works inside a network namespace, and the two sides keep contexts of
their own, so that what the reference holds besides stays out of the worker's reach.
"""

import os
from typing import Any, Self

import torch

from guard.buffers.base import Buffer


class VmmBuffer(Buffer):
    name = "vm-buffers"

    def __init__(self, fd: int, size: int, handle: Any) -> None:
        driver = _driver()
        self.fd, self.size = fd, size
        self._handle = handle
        self._pointer = int(_ok(driver.cuMemAddressReserve(size, 0, 0, 0)))
        _ok(driver.cuMemMap(self._pointer, size, 0, handle, 0))
        access = driver.CUmemAccessDesc()
        access.location = _here(driver)
        access.flags = driver.CUmemAccess_flags.CU_MEM_ACCESS_FLAGS_PROT_READWRITE
        _ok(driver.cuMemSetAccess(self._pointer, size, [access], 1))

    @classmethod
    def make(cls, size: int) -> Self:
        driver = _driver()
        properties = driver.CUmemAllocationProp()
        properties.type = driver.CUmemAllocationType.CU_MEM_ALLOCATION_TYPE_PINNED
        properties.requestedHandleTypes = (
            driver.CUmemAllocationHandleType.CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR
        )
        properties.location = _here(driver)
        smallest = driver.CUmemAllocationGranularity_flags.CU_MEM_ALLOC_GRANULARITY_MINIMUM
        granularity = int(_ok(driver.cuMemGetAllocationGranularity(properties, smallest)))
        size = -(-max(size, 1) // granularity) * granularity
        handle = _ok(driver.cuMemCreate(size, properties, 0))
        kind = driver.CUmemAllocationHandleType.CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR
        return cls(int(_ok(driver.cuMemExportToShareableHandle(handle, kind, 0))), size, handle)

    @classmethod
    def attach(cls, fd: int, size: int) -> Self:
        driver = _driver()
        kind = driver.CUmemAllocationHandleType.CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR
        return cls(fd, size, _ok(driver.cuMemImportFromShareableHandle(fd, kind)))

    def raw(self, offset: int, count: int) -> torch.Tensor:
        if count == 0:
            return torch.empty(0, dtype=torch.uint8, device="cuda")
        return torch.as_tensor(DeviceBytes(self._pointer + offset, count), device="cuda")

    def close(self) -> None:
        driver = _driver()
        torch.cuda.synchronize()
        _ok(driver.cuMemUnmap(self._pointer, self.size))
        _ok(driver.cuMemRelease(self._handle))
        _ok(driver.cuMemAddressFree(self._pointer, self.size))
        os.close(self.fd)


class DeviceBytes:
    """Device bytes by pointer, in the form that torch takes without a copy."""

    def __init__(self, pointer: int, count: int) -> None:
        self.__cuda_array_interface__ = {
            "shape": (count,),
            "typestr": "|u1",
            "data": (pointer, False),
            "version": 3,
            "strides": None,
        }


def _driver() -> Any:
    from cuda.bindings import driver

    torch.cuda.current_stream()  # makes sure that the primary context exists and is current
    return driver


def _here(driver: Any) -> Any:
    location = driver.CUmemLocation()
    location.type = driver.CUmemLocationType.CU_MEM_LOCATION_TYPE_DEVICE
    location.id = torch.cuda.current_device()
    return location


def _ok(result: tuple[Any, ...]) -> Any:
    """The value of a driver call, which answers (status, value...)."""
    status, *values = result
    if int(status) != 0:
        raise RuntimeError(f"CUDA driver: {status!r}")
    return values[0] if values else None
