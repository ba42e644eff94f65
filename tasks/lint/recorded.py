"""Recorded inputs that are there: whether they hold the tensor that the definition asks for."""

from collections.abc import Iterator, Sequence
from pathlib import Path

from tasks.blobs import find_blob
from tasks.definition import Definition, DType
from tasks.document import Document, json_path
from tasks.task import LintFinding
from tasks.workload import SafetensorsInput, Workload

_NAMES = {
    DType.FLOAT64: "F64",
    DType.FLOAT32: "F32",
    DType.FLOAT16: "F16",
    DType.BFLOAT16: "BF16",
    DType.FLOAT8_E4M3FN: "F8_E4M3",
    DType.FLOAT8_E5M2: "F8_E5M2",
    DType.INT64: "I64",
    DType.INT32: "I32",
    DType.INT16: "I16",
    DType.INT8: "I8",
    DType.BOOL: "BOOL",
}
"""What safetensors calls the types."""


def recorded_findings(
    definition: Definition, workload: Workload, document: Document, blob_roots: Sequence[str]
) -> Iterator[LintFinding]:
    """Reads headers only."""
    for name, source in workload.inputs.items():
        if not isinstance(source, SafetensorsInput) or name not in definition.inputs:
            continue
        file = find_blob(source.path, blob_roots)
        problem = _problem(file, source.tensor_key, definition, workload, name) if file else None
        if problem:
            yield document.finding(
                "error",
                "blob-mismatch",
                json_path(("inputs", name)),
                f"{problem} in {file}",
                "fetch the file again, or correct the workload",
            )


def _problem(file: Path, key: str, definition: Definition, workload: Workload, name: str) -> str | None:
    from safetensors import SafetensorError, safe_open

    try:
        with safe_open(str(file), framework="numpy") as tensors:
            if key not in tensors.keys():  # noqa: SIM118  (safe_open is no mapping)
                return f"there is no tensor {key!r}"
            tensor = tensors.get_slice(key)
            shape, dtype = tuple(tensor.get_shape()), tensor.get_dtype()
        wanted = definition.input_shapes(workload.axes)[name]
    except (SafetensorError, OSError, ValueError) as error:
        return f"cannot be read ({error})"
    wanted_dtype = _NAMES.get(definition.inputs[name].dtype)
    if shape != wanted:
        return f"tensor {key!r} has shape {list(shape)}, not {wanted and list(wanted)}"
    if wanted_dtype is not None and dtype != wanted_dtype:
        return f"tensor {key!r} is {dtype}, not {wanted_dtype}"
    return None
