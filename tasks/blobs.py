"""Recorded inputs: safetensors files of the flashinfer-trace data set, found under the blob roots."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING

from tasks.definition import Shape
from tasks.errors import TaskError
from tasks.task import Task
from tasks.value import Value
from tasks.workload import SafetensorsInput

if TYPE_CHECKING:
    import torch

NO_RECORDING = "no-recording-of-this-size"
"""The `path` of a recorded input whose workload was shrunk: nothing was ever recorded at these axes."""

_FETCH = "run `kernelarc data download`, or allow stand-ins with `--inputs auto`"


class MissingBlob(Value):
    """One recorded input whose file is under none of the roots."""

    workload: str
    input: str
    path: str


def find_blob(path: str, roots: Sequence[str | Path]) -> Path | None:
    """The file that `path` names under the first root that has it; None when no root does.

    Leading folders of `path` are dropped one by one, as the public evaluator does, so that a root may stand
    anywhere above the file. An absolute path stands for itself. A path with `..` is never followed.
    """
    relative = PurePosixPath(path)
    if path == NO_RECORDING or ".." in relative.parts:
        return None
    if relative.is_absolute():
        return _file(Path(path))
    for root in roots:
        for start in range(len(relative.parts)):
            found = _file(Path(root, *relative.parts[start:]))
            if found is not None:
                return found
    return None


def missing_blobs(task: Task) -> tuple[MissingBlob, ...]:
    """Every recorded input of `task` that cannot be found, in workload order; no file is opened."""
    return tuple(
        MissingBlob(workload=workload.uuid, input=name, path=source.path)
        for workload in task.workloads
        for name, source in workload.inputs.items()
        if isinstance(source, SafetensorsInput) and find_blob(source.path, task.blob_roots) is None
    )


def read_blob(
    source: SafetensorsInput, roots: Sequence[str | Path], name: str, shape: Shape | None, dtype: torch.dtype
) -> torch.Tensor:
    """The tensor `source.tensor_key` of the recorded file, on the CPU; only that key is read.

    `TaskError` when the file or the key is missing, or the tensor is not of `shape` and `dtype`.
    """
    file = find_blob(source.path, roots)
    if file is None:
        raise TaskError(f"the recorded input {source.path!r} is not there", field=name, mend=_FETCH)
    tensor = _read_key(file, source.tensor_key, name)
    problem = ""
    if shape is None or tuple(tensor.shape) != shape:
        problem = f"its shape {list(tensor.shape)} is not {shape and list(shape)}"
    elif tensor.dtype != dtype:
        problem = f"its element type {tensor.dtype} is not {dtype}"
    if problem:
        raise TaskError(
            problem, file=file, field=name, mend="it was recorded for something else; fetch it again"
        )
    return tensor


def _read_key(file: Path, key: str, name: str) -> torch.Tensor:
    from safetensors import SafetensorError, safe_open

    try:
        with safe_open(file, framework="pt", device="cpu") as recorded:
            keys = list(recorded.keys())
            if key not in keys:
                raise TaskError(
                    f"there is no tensor {key!r}, only {keys}",
                    file=file,
                    field=name,
                    mend="correct `tensor_key`",
                )
            tensor: torch.Tensor = recorded.get_tensor(key)
            return tensor.contiguous()
    except (SafetensorError, OSError) as error:
        raise TaskError(
            f"it is not a readable safetensors file ({error})", file=file, field=name, mend="fetch it again"
        ) from error


def _file(candidate: Path) -> Path | None:
    try:
        return candidate if candidate.is_file() else None
    except (OSError, ValueError):
        return None
