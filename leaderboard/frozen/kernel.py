"""The frozen kernels: what is launched how, and the bytes of the cubin that a digest names.

Nothing is compiled when one runs, so that between two sessions of a driver check only the driver changes.
"""

import hashlib
import json
import struct
from pathlib import Path
from typing import Literal

from pydantic import ValidationError

from tasks.errors import TaskError
from tasks.loading import load_entry
from tasks.sources.base import TaskEntry
from tasks.task import Task
from tasks.value import Value

ROOT = Path(__file__).parent
MANIFEST = ROOT / "frozen.json"
Architecture = Literal["sm_90a", "sm_100a"]

_CUDA_MACHINE = 190
"""`EM_CUDA` of the ELF header."""


class FrozenKernel(Value):
    """One cubin, and how it is launched."""

    name: str
    """Of the task that it answers, such as `sentinel_copy`."""
    architecture: Architecture
    cubin: str
    """sha256 of its bytes; its file bears the first 16 digits."""
    entry: str
    grid: int
    threads: int
    shared_bytes: int
    """Dynamic shared memory."""
    pointers: int
    """How many tensors it takes, inputs before outputs. Behind them: an i32, two null pointers."""
    built_with: dict[str, str]

    @property
    def file(self) -> Path:
        return ROOT / "cubins" / f"{self.cubin[:16]}.cubin"

    def image(self) -> bytes:
        """The cubin; `TaskError` when it is not the one that was frozen."""
        content = self.file.read_bytes() if self.file.is_file() else b""
        if hashlib.sha256(content).hexdigest() != self.cubin:
            raise TaskError(
                f"is not the cubin that was frozen for {self.name} on {self.architecture}",
                file=self.file,
                field="cubin",
                mend="restore it from version control; a kernel built anew is another sentinel",
            )
        return content


def frozen_kernels() -> tuple[FrozenKernel, ...]:
    """All that are kept, by name and architecture."""
    try:
        return tuple(FrozenKernel.model_validate(each) for each in json.loads(MANIFEST.read_text()))
    except ValidationError as error:
        raise TaskError(f"is no list of kernels: {error.errors()[0]['msg']}", file=MANIFEST) from error


def frozen_kernel(name: str, architecture: str) -> FrozenKernel:
    """`TaskError` when nothing of that name was built for that architecture."""
    known = frozen_kernels()
    for kernel in known:
        if (kernel.name, kernel.architecture) == (name, architecture):
            return kernel
    built = ", ".join(sorted({kernel.architecture for kernel in known if kernel.name == name}))
    raise TaskError(
        f"was not built for {architecture}" if built else "is no sentinel",
        file=name,
        mend=f"it was built for {built}" if built else f"there are {', '.join(sentinel_names())}",
    )


def architecture_of(image: bytes) -> int:
    """Which multiprocessor a cubin is for, such as 90, by its ELF header; `ValueError` when it is no cubin."""
    if image[:4] != b"\x7fELF" or struct.unpack_from("<H", image, 18)[0] != _CUDA_MACHINE:
        raise ValueError("is no cubin")
    (flags,) = struct.unpack_from("<I", image, 48)
    # the seventh version of the format has the number in the lowest byte, the eighth in the second
    return int(flags >> 8 & 0xFF if image[8] >= 8 else flags & 0xFF)


def sentinel_names() -> tuple[str, ...]:
    return tuple(sorted(path.parent.name for path in (ROOT / "problems").glob("*/definition.json")))


def sentinel_task(name: str) -> Task | None:
    """The task that a sentinel answers; None when `name` is no sentinel's."""
    if name not in sentinel_names():
        return None
    folder = ROOT / "problems" / name
    task = load_entry(TaskEntry(name=name, subset=None, source="folder", workloads=1, location=str(folder)))
    # remarks name the file by where this copy of the project lies, and a snapshot keeps them
    return task.model_copy(update={"findings": (), "blob_roots": ()})
