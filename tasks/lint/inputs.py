"""Where a workload's inputs come from: names the definition lacks, sources that cannot deliver, blobs."""

from collections.abc import Iterator, Sequence
from pathlib import PurePosixPath

from tasks.blobs import find_blob
from tasks.definition import Definition
from tasks.document import Document, json_path
from tasks.task import LintFinding
from tasks.workload import CustomInput, RandomInput, SafetensorsInput, ScalarInput, Workload


def input_findings(
    definition: Definition, workload: Workload, document: Document, blob_roots: Sequence[str]
) -> Iterator[LintFinding]:
    for name, source in workload.inputs.items():
        field = json_path(("inputs", name))
        if name not in definition.inputs:
            yield document.finding(
                "warning",
                "unknown-input",
                field,
                "is no input of the definition",
                "remove it, or check its name",
            )
        elif isinstance(source, SafetensorsInput):
            yield from _blob_findings(source, document, field, blob_roots)
        else:
            yield from _mismatch(definition, name, source, document, field)
    yield from _missing(definition, workload, document)


def _missing(definition: Definition, workload: Workload, document: Document) -> Iterator[LintFinding]:
    for name in definition.inputs:
        if name not in workload.inputs:
            yield document.finding(
                "warning",
                "missing-input",
                json_path(("inputs", name)),
                "is not given, and is drawn at random",
                "state its source",
            )
    custom = [name for name, source in workload.inputs.items() if isinstance(source, CustomInput)]
    if custom and definition.custom_inputs_entrypoint is None:
        yield document.finding(
            "error",
            "no-custom-entry",
            json_path(("inputs", custom[0])),
            "is custom, but the definition has no custom_inputs_entrypoint",
            "name the function there, or choose another source",
        )


def _mismatch(
    definition: Definition,
    name: str,
    source: RandomInput | ScalarInput | CustomInput,
    document: Document,
    field: str,
) -> Iterator[LintFinding]:
    is_scalar = definition.inputs[name].shape is None
    if isinstance(source, ScalarInput) and not is_scalar:
        yield document.finding(
            "warning",
            "scalar-for-tensor",
            field,
            "is a scalar where the definition wants a tensor; `run` gets a Python number",
            "use `random`, or give the input the shape null",
        )
    if isinstance(source, RandomInput) and is_scalar:
        yield document.finding(
            "note", "random-scalar", field, "is a random Python number", "give its value with `scalar`"
        )


def _blob_findings(
    source: SafetensorsInput, document: Document, field: str, blob_roots: Sequence[str]
) -> Iterator[LintFinding]:
    path = PurePosixPath(source.path)
    if ".." in path.parts:
        yield document.finding(
            "error",
            "climbing-path",
            f"{field}.path",
            f"{source.path!r} climbs with `..`",
            "write a plain path",
        )
    elif find_blob(source.path, blob_roots) is None:
        yield document.finding(
            "warning",
            "missing-blob",
            f"{field}.path",
            f"{path.name!r} is under none of the data roots, so a stand-in is made",
            "fetch it with `kernelarc data download` or point $FLASHINFER_TRACE_DIR at it",
        )
    elif path.is_absolute():
        yield document.finding(
            "warning",
            "absolute-path",
            f"{field}.path",
            "exists on this machine only",
            "write a relative path",
        )
