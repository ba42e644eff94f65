"""Tables of T_SOL and T_b: what a score is measured against, and where each figure comes from.

The two quantities are kept apart, because they change apart: T_SOL of nine problems was republished while
T_b stayed.
"""

import json
import re
from collections.abc import Mapping
from datetime import date
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import Field, ValidationError, model_validator

from leaderboard.whole_file import write_whole
from tasks.errors import TaskError
from tasks.task import Task
from tasks.value import Value, digest_of

Quantity = Literal["t_sol", "t_b"]
Milliseconds = Annotated[float, Field(gt=0, allow_inf_nan=False)]


class Provenance(Value):
    source: str
    """File, address or command the figures come from."""
    retrieved: date
    revision: str
    """Of the evaluation stack or of our own table, such as `v1.1`."""
    hardware: str
    """Such as `B200`."""
    measured_by: Literal["published", "ours"] = "published"

    @property
    def pricing(self) -> Literal["published", "physical"]:
        """How bounds were priced: `kernelarc sol` writes it at the head of the revision."""
        return "physical" if self.revision.startswith("physical") else "published"


class TimeTable(Value):
    """One quantity on one device: `times_ms[task][workload uuid]`."""

    format: Literal["kernelarc-times/1"] = "kernelarc-times/1"
    quantity: Quantity
    provenance: Provenance
    times_ms: dict[str, dict[str, Milliseconds]]

    @property
    def digest(self) -> str:
        return digest_of(self.model_dump(mode="json"))

    @model_validator(mode="after")
    def _holds_something(self) -> "TimeTable":
        if not self.times_ms or not all(self.times_ms.values()):
            raise ValueError("a table names at least one task, and each task at least one workload")
        return self


class Bounds(Value):
    """What one workload is scored between."""

    t_sol_ms: Milliseconds
    t_b_ms: Milliseconds
    is_physical: bool = False
    """T_SOL is what the hardware can do at most: a score above 1 is a fault, and counts as 1."""


class PublishedTimes(Value):
    t_sol: TimeTable
    t_b: TimeTable


def read_table(path: Path) -> TimeTable:
    """A table from a file that `write_table` wrote; `TaskError` says what is wrong with it."""
    return _validated(_read_json(path), path)


def write_table(table: TimeTable, path: Path) -> None:
    """Write `table` as sorted JSON, all of it or nothing."""
    write_whole(path, json.dumps(table.model_dump(mode="json"), indent=1, sort_keys=True) + "\n")


def bounds_for(task: str, t_sol: TimeTable, t_b: TimeTable) -> dict[str, Bounds]:
    """T_SOL and T_b of every workload of `task`; `TaskError` unless both tables hold the same workloads."""
    for table, wanted in ((t_sol, "t_sol"), (t_b, "t_b")):
        if table.quantity != wanted:
            raise TaskError(f"is a table of {table.quantity}, not of {wanted}", field=table.provenance.source)
    if t_sol.provenance.hardware != t_b.provenance.hardware:
        raise TaskError(
            f"T_SOL is for {t_sol.provenance.hardware} and T_b for {t_b.provenance.hardware}",
            field=task,
            mend="use two tables of one device",
        )
    sol, baseline = t_sol.times_ms.get(task, {}), t_b.times_ms.get(task, {})
    if not sol or set(sol) != set(baseline):
        odd = sorted(set(sol) ^ set(baseline))
        problem = f"workload {odd[0]} is in one table only" if odd else "is in neither table"
        raise TaskError(problem, field=task, mend="use two tables of one revision")
    is_physical = t_sol.provenance.pricing == "physical"
    return {u: Bounds(t_sol_ms=sol[u], t_b_ms=baseline[u], is_physical=is_physical) for u in sol}


def merge_tables(tables: tuple[TimeTable, ...]) -> TimeTable:
    """One table of many problems; `TaskError` when quantity, revision, hardware or origin differ."""
    first = tables[0]
    times: dict[str, dict[str, float]] = {}
    for table in tables:
        if _kind(table) != _kind(first):
            raise TaskError(
                f"{_kind(table)} does not go with {_kind(first)}",
                file=table.provenance.source,
                mend="merge tables of one quantity, revision and device",
            )
        times.update(table.times_ms)
    return first.model_copy(update={"times_ms": times})


def read_published(path: Path, task: Task, retrieved: date, hardware: str = "B200") -> PublishedTimes:
    """T_SOL and T_b from the `published.json` beside a problem, laid on the workloads of `task` by axes.

    The file lists, under a key such as `b200_v11`, the axes of each workload (constants and expressions,
    too) with `t_sol_ms` and `t_b_ms`. Workloads of equal axes are taken in the order of the file.
    `TaskError` when a workload of the task has no entry.
    """
    content = _read_json(path)
    key, revision = _published_key(content, hardware, path)
    entries = content[key]
    if not isinstance(entries, list) or not all(_is_entry(entry) for entry in entries):
        raise TaskError(
            "is not a list of axes, t_sol_ms and t_b_ms", file=path, field=key, mend="download it again"
        )
    found = _by_workload(task, list(entries), path, key)
    provenance = {"source": path.name, "retrieved": retrieved, "revision": revision, "hardware": hardware}
    tables = {
        quantity: _validated(
            {
                "quantity": quantity,
                "provenance": provenance,
                "times_ms": {task.name: {uuid: entry[f"{quantity}_ms"] for uuid, entry in found.items()}},
            },
            path,
        )
        for quantity in ("t_sol", "t_b")
    }
    return PublishedTimes(t_sol=tables["t_sol"], t_b=tables["t_b"])


def _published_key(content: Mapping[str, Any], hardware: str, path: Path) -> tuple[str, str]:
    """The newest key for `hardware`, and the revision in it: `b200_v11` is v1.1."""
    pattern = re.compile(rf"{re.escape(hardware.lower())}_v(\d)(\d+)")
    matches = sorted((int(m[1]), int(m[2]), k) for k in content if (m := pattern.fullmatch(k)))
    if not matches:
        raise TaskError(
            f"has no times for {hardware}", file=path, mend=f"its keys are {', '.join(sorted(content))}"
        )
    major, minor, key = matches[-1]
    return key, f"v{major}.{minor}"


def _by_workload(
    task: Task, entries: list[dict[str, Any]], path: Path, key: str
) -> dict[str, dict[str, Any]]:
    found: dict[str, dict[str, Any]] = {}
    for workload in task.workloads:
        wanted = workload.axes.items()
        entry = next((e for e in entries if wanted <= e["axes"].items()), None)
        if entry is None:
            raise TaskError(
                f"has no entry for workload {workload.uuid} with axes {workload.axes}",
                file=path,
                field=key,
                mend="use the file of the data set's revision",
            )
        entries.remove(entry)
        found[workload.uuid] = entry
    return found


def _is_entry(entry: object) -> bool:
    return (
        isinstance(entry, dict)
        and isinstance(entry.get("axes"), dict)
        and all(isinstance(entry.get(name), int | float) for name in ("t_sol_ms", "t_b_ms"))
    )


def _kind(table: TimeTable) -> str:
    p = table.provenance
    return f"{table.quantity} {p.revision} {p.hardware} {p.measured_by}"


def _read_json(path: Path) -> dict[str, Any]:
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError as error:
        raise TaskError("does not exist", file=path, mend="give the path of a table") from error
    except (OSError, UnicodeDecodeError, json.JSONDecodeError) as error:
        raise TaskError(f"cannot be read: {error}", file=path, mend="write or download it again") from error
    if not isinstance(content, dict):
        raise TaskError("is not a JSON object", file=path, mend="write or download it again")
    return content


def _validated(content: Mapping[str, Any], path: Path) -> TimeTable:
    try:
        return TimeTable.model_validate(content)
    except ValidationError as error:
        first = error.errors()[0]
        raise TaskError(
            first["msg"], file=path, field=".".join(map(str, first["loc"])), mend="correct the table"
        ) from error
