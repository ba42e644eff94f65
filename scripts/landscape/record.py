"""The file of a landscape: a header, then one line a setting and workload; it grows and is never rewritten."""

import json
from pathlib import Path
from typing import Any

from scripts.landscape.settings import key_of
from tasks.errors import TaskError

NOTE = (
    "exploration figures: one process, one set of inputs, no interleaving, and no guard around the settings; "
    "they rank settings and are never quoted"
)


class Record:
    """Opens `path`, or goes on with it. Raises `TaskError` when it was begun for something else."""

    def __init__(self, path: Path, header: dict[str, Any]) -> None:
        self._path = path
        lines = _lines(path)
        if lines:
            old = lines[0].get("header", {})
            for field in ("family", "task_digest"):
                if old.get(field) != header[field]:
                    raise TaskError(
                        f"was begun with {field} {old.get(field)!r}", file=str(path), field="--out",
                        mend="name a new file",
                    )  # fmt: skip
        else:
            path.parent.mkdir(parents=True, exist_ok=True)
            self._append({"header": {"kind": "landscape", "note": NOTE, **header}})
        self.done = {(key_of(line["knobs"]), line["uuid"]) for line in lines[1:]}

    def add(self, line: dict[str, Any]) -> None:
        self._append(line)
        self.done.add((key_of(line["knobs"]), line["uuid"]))

    def _append(self, line: dict[str, Any]) -> None:
        with self._path.open("a") as file:
            file.write(json.dumps(line) + "\n")


def _lines(path: Path) -> list[dict[str, Any]]:
    """Whole lines; the last one may have been cut off by a kill, and is then taken away."""
    if not path.exists():
        return []
    data = path.read_bytes()
    whole = data[: data.rfind(b"\n") + 1]
    if len(whole) < len(data):
        path.write_bytes(whole)
    return [json.loads(line) for line in whole.splitlines()]


def read_landscape(path: Path) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """The header and the lines. Raises `TaskError` for a file that is no landscape."""
    lines = _lines(path)
    if not lines or "header" not in lines[0]:
        raise TaskError(
            "is no landscape", file=str(path), field="--settings", mend="name a file of scripts.landscape"
        )
    return lines[0]["header"], lines[1:]
