"""Which tasks there are, and which one a name means."""

import difflib
import os
from collections.abc import Sequence
from pathlib import Path

from tasks.errors import TaskError
from tasks.sources import SOURCES
from tasks.sources.base import SUBSET_FOLDERS, TaskEntry
from tasks.sources.folder import DEFINITION
from tasks.sources.parquet import is_table

DATA_VARIABLE = "SOL_EXECBENCH_DATA"
BLOB_VARIABLE = "FLASHINFER_TRACE_DIR"
_ORDER: dict[str, int] = {name: place for place, name in enumerate(SUBSET_FOLDERS.values())}


def data_roots_or_default(data_roots: Sequence[Path] = ()) -> tuple[Path, ...]:
    """The caller's roots, or those of `$SOL_EXECBENCH_DATA`; `TaskError` when one of them does not exist."""
    chosen = [Path(root) for root in data_roots]
    field = "--data"
    if not chosen:
        chosen = [Path(part) for part in os.environ.get(DATA_VARIABLE, "").split(os.pathsep) if part]
        field = f"${DATA_VARIABLE}"
    for root in chosen:
        if not root.exists():
            raise TaskError("does not exist", file=root, field=field, mend="correct the data root")
        if not root.is_dir() and not is_table(root):
            raise TaskError(
                "is neither a folder nor a parquet file",
                file=root,
                field=field,
                mend="give the folder of the data set, or a .parquet file of it",
            )
    return tuple(chosen)


def blob_roots(folder: Path, data_roots: Sequence[Path]) -> tuple[str, ...]:
    """Where recorded inputs are looked for: the problem folder, the data roots, `$FLASHINFER_TRACE_DIR`."""
    recorded = os.environ.get(BLOB_VARIABLE)
    roots = [folder, *(root if root.is_dir() else root.parent for root in data_roots)]
    return tuple(dict.fromkeys(str(root) for root in (*roots, *([recorded] if recorded else []))))


def list_tasks(data_roots: Sequence[Path] = ()) -> tuple[TaskEntry, ...]:
    """Every shipped task and every task under the data roots (or `$SOL_EXECBENCH_DATA`), none validated.

    What several roots hold is listed once, from the first.
    """
    found: dict[str, TaskEntry] = {entry.name: entry for entry in _shipped()}
    for root in data_roots_or_default(data_roots):
        for entry in entries_under(root):
            found.setdefault(entry.name, entry)
    return tuple(sorted(found.values(), key=_place))


def entries_under(root: Path) -> tuple[TaskEntry, ...]:
    """Every task of one data root, each once, folders before parquet files."""
    found: dict[str, TaskEntry] = {}
    for entry in (*SOURCES["dataset"].entries(root), *SOURCES["parquet"].entries(root)):
        found.setdefault(entry.name, entry)
    return tuple(found.values())


def find_task(name: str, data_roots: Sequence[Path] = ()) -> TaskEntry:
    """The entry that `name` means; `TaskError` lists the nearest names when it means none, or several.

    `name` is a shipped alias, `Subset/NNN_name`, an `NNN_name` that only one subset has, or a path.
    """
    path = _as_path(name)
    if path is not None and _spelt_as_path(name):
        return _folder_entry(path)
    wanted = _canonical(name)
    found = _without_tables(wanted, data_roots)
    if found is not None:
        return found
    entries = list_tasks(data_roots)
    matches = [entry for entry in entries if wanted in _names(entry)]
    if len(matches) == 1:
        return matches[0]
    if matches:
        names = ", ".join(entry.name for entry in matches)
        raise TaskError(f"task {name!r} is in several subsets", field="task", mend=f"write one of {names}")
    if path is not None and path.exists():
        return _folder_entry(path)
    raise _unknown(name, entries, searched=bool(data_roots) or DATA_VARIABLE in os.environ)


def _without_tables(wanted: str, data_roots: Sequence[Path]) -> TaskEntry | None:
    """A shipped task, or an official one under its whole name: neither needs a parquet file to be opened."""
    for entry in _shipped():
        if wanted in _names(entry):
            return entry
    roots = data_roots_or_default(data_roots) if "/" in wanted else ()
    in_folders = (entry for root in roots for entry in SOURCES["dataset"].entries(root))
    return next((entry for entry in in_folders if entry.name == wanted), None)


def _shipped() -> list[TaskEntry]:
    from tasks.sources.shipped import SHIPPED_ROOT

    return list(SOURCES["shipped"].entries(SHIPPED_ROOT))


def _place(entry: TaskEntry) -> tuple[bool, int, str]:
    return entry.source != "shipped", _ORDER.get(entry.subset or "", len(_ORDER)), entry.name


def _names(entry: TaskEntry) -> set[str]:
    return {entry.name, entry.short_name, f"{entry.subset}/{entry.short_name}"}


def _canonical(name: str) -> str:
    """`Quantization/x` as `Quant/x`, whatever the case of the subset."""
    head, slash, tail = name.partition("/")
    subsets = {alias.casefold(): subset for alias, subset in SUBSET_FOLDERS.items()}
    return f"{subsets.get(head.casefold(), head)}/{tail}" if slash else name


def _as_path(name: str) -> Path | None:
    return Path(name).expanduser() if name and "\0" not in name and len(name) < 4096 else None


def _spelt_as_path(name: str) -> bool:
    return name.startswith(("/", "./", "../", "~")) or name in (".", "..")


def _folder_entry(path: Path) -> TaskEntry:
    folder = path.parent if path.name == DEFINITION else path
    if not (folder / DEFINITION).exists() and not (folder / DEFINITION).is_symlink():
        problem = f"holds no {DEFINITION}" if folder.is_dir() else "is no problem folder"
        raise TaskError(problem, file=path, mend=f"name a folder with {DEFINITION} and workload.jsonl")
    return next(SOURCES["folder"].entries(folder))


def _unknown(name: str, entries: Sequence[TaskEntry], *, searched: bool) -> TaskError:
    """Nearest names first by the whole name, then by the part after the subset."""
    by_name = {key: entry.name for entry in entries for key in (entry.name, entry.short_name)}
    close = difflib.get_close_matches(name[:200], list(by_name), n=5, cutoff=0.4)
    nearest = list(dict.fromkeys(by_name[key] for key in close)) or [entry.name for entry in entries[:5]]
    mend = f"did you mean {', '.join(nearest[:4])}" if nearest else "run `kernelarc tasks` for the list"
    if not searched:
        mend += f" (official problems need --data or ${DATA_VARIABLE})"
    return TaskError(f"there is no task {name[:80]!r}", field="task", mend=mend)
