"""`kernelarc tasks`, `show` and `lint`: what is asked, before anything is judged."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from pipeline.commands.options import data_option, emit, options, settings_from, table, task_argument

if TYPE_CHECKING:
    from tasks.task import LintFinding, Task


@click.command()
@options(data_option)
def tasks(as_json: bool, **given: Any) -> None:
    """List the shipped tasks, and those under the data roots.

    \b
    Examples:
      kernelarc tasks
      kernelarc tasks --data ~/SOL-ExecBench --json | jq -r '.[].name'
    """
    from tasks.catalogue import list_tasks

    listed = [
        {"name": t.name, "subset": t.subset, "source": t.source, "workloads": t.workloads}
        for t in list_tasks(data_roots=settings_from(given).data)
    ]
    rows = [tuple(str(value or "-") for value in entry.values()) for entry in listed]
    emit(as_json, listed, table([("name", "subset", "source", "workloads"), *rows]))


@click.command()
@task_argument
@options(
    click.option("--graph", is_flag=True, help="What the reference does, by groups that can share a kernel."),
    click.option(
        "--workload",
        metavar="N|UUID",
        help="Of the graph: a place in the file or a uuid. [default: the first]",
    ),
    click.option(
        "--svg", type=click.Path(dir_okay=False, path_type=Path), metavar="FILE", help="Draw the graph there."
    ),
    data_option,
)
def show(task: str, graph: bool, workload: str | None, svg: Path | None, as_json: bool, **given: Any) -> None:
    """Show TASK: its definition, its workloads with every axis resolved, and what lint says.

    \b
    Examples:
      kernelarc show l2_decoder
      kernelarc show L2/002_llama_decoder_layer --json | jq .findings
      kernelarc show l2_decoder --graph --workload 3 --svg decoder.svg
    """
    from tasks import load

    found = load(task, data_roots=settings_from(given).data)
    if graph or svg is not None or workload is not None:
        from pipeline.commands.show_graph import show_graph

        show_graph(found, workload, svg, as_json)
        return
    emit(as_json, _as_shown(found), _shown_text(found))


def _as_shown(task: "Task") -> dict[str, Any]:
    definition = task.definition
    workloads = [
        {**workload.model_dump(mode="json"), "axes": definition.resolve_axes(workload.axes)}
        for workload in task.workloads
    ]
    return {
        "name": task.name,
        "subset": task.subset,
        "source": task.source,
        "digest": task.digest,
        "definition": definition.model_dump(mode="json"),
        "workloads": workloads,
        "findings": [finding.model_dump(mode="json") for finding in task.findings],
    }


def _shown_text(task: "Task") -> str:
    definition = task.definition
    tensors = [
        (kind, name, str(spec.dtype), "scalar" if spec.shape is None else f"[{', '.join(spec.shape)}]")
        for kind, specs in (("input", definition.inputs), ("output", definition.outputs))
        for name, spec in specs.items()
    ]
    workloads = [
        (w.uuid, " ".join(f"{name}={size}" for name, size in definition.resolve_axes(w.axes).items()))
        for w in task.workloads
    ]
    parts = [
        f"{task.name} ({task.subset or 'no subset'}, {task.source})",
        definition.description or "",
        table(tensors),
        table(workloads),
        *(str(finding) for finding in task.findings),
    ]
    return "\n\n".join(part for part in parts if part)


@click.command()
@click.argument("paths", nargs=-1, required=True, metavar="PATH|TASK...", type=click.Path(path_type=Path))
@options(data_option)
def lint(paths: tuple[Path, ...], as_json: bool, **given: Any) -> int:
    """Say what the official readers silently swallow in definitions, workloads, solutions and traces.

    PATH is an official file of any kind, a problem's folder, or a data root; TASK a name that `tasks` lists.
    What is the same in several files is said once; --json says it file by file. Exit 1 on errors only.

    \b
    Examples:
      kernelarc lint solution.json
      kernelarc lint l1_rmsnorm
      kernelarc lint ~/SOL-ExecBench/benchmark/L2 --json | jq 'group_by(.code) | map({(.[0].code): length})'
    """
    from tasks.errors import TaskError
    from tasks.lint import is_name, lint_paths

    for path in paths:
        if not is_name(path) and not path.exists():
            raise TaskError("does not exist", file=path, mend="check the path")
    findings = lint_paths(paths, data_roots=settings_from(given).data)
    emit(as_json, [finding.model_dump(mode="json") for finding in findings], _counted(findings))
    return 1 if any(finding.level == "error" for finding in findings) else 0


def _counted(findings: "list[LintFinding]") -> str:
    counts = {level: sum(f.level == level for f in findings) for level in ("error", "warning", "note")}
    closing = ", ".join(f"{count} {level}{'' if count == 1 else 's'}" for level, count in counts.items())
    from tasks.lint.fold import across_files

    return "\n".join([*across_files(findings), closing])
