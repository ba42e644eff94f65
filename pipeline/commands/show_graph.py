"""`kernelarc show --graph`: what a reference does at one workload, as a table, a picture or JSON."""

from pathlib import Path
from typing import TYPE_CHECKING

from pipeline.commands.options import emit, table
from tasks.errors import TaskError

if TYPE_CHECKING:
    from tasks.task import Task
    from tasks.workload import Workload


def show_graph(task: "Task", wanted: str | None, picture: Path | None, as_json: bool) -> None:
    """Capture the graph and say it; `TaskError` for a workload that there is not, or a file not writable."""
    from tasks.graph import capture
    from tasks.graph.picture import svg
    from tasks.graph.summary import headline, table_rows

    workload = chosen(task, wanted)
    graph = capture(task, workload)
    sizes = " ".join(f"{name}={size}" for name, size in task.definition.resolve_axes(workload.axes).items())
    drawn = ""
    if picture is not None:
        _write(picture, svg(graph, f"{task.name}, workload {workload.uuid[:8]}"))
        drawn = f"drawn in {picture}"
    touched = [
        (tensor.name, str(graph.touched[tensor.name]), f"of {tensor.bytes} bytes")
        for tensor in graph.inputs
        if graph.touched[tensor.name] < tensor.bytes
    ]
    parts = [f"{task.name}, workload {workload.uuid}: {sizes}", headline(graph), table(table_rows(graph))]
    if touched:
        parts.append("inputs that are read in part:\n" + table(touched))
    content = {"task": task.name, "uuid": workload.uuid, "graph": graph.model_dump(mode="json")}
    emit(as_json, content, "\n\n".join(part for part in (*parts, drawn) if part))


def chosen(task: "Task", wanted: str | None) -> "Workload":
    """The workload at that place of the file, counted from 0, or of that uuid or its beginning."""
    workloads = task.workloads
    if wanted is None:
        return workloads[0]
    if wanted.isdecimal() and int(wanted) < len(workloads):
        return workloads[int(wanted)]
    matching = [workload for workload in workloads if workload.uuid.startswith(wanted)]
    if len(matching) == 1:
        return matching[0]
    raise TaskError(
        f"there is no workload {wanted!r}" if not matching else f"{wanted!r} begins several uuids",
        file=task.name, field="--workload", mend=f"give a number from 0 to {len(workloads) - 1}, or a uuid",
    )  # fmt: skip


def _write(path: Path, text: str) -> None:
    try:
        path.write_text(text, encoding="utf-8")
    except OSError as error:
        raise TaskError(
            f"cannot be written ({error.strerror})",
            file=path,
            field="--svg",
            mend="name a file in a folder of yours",
        ) from error
