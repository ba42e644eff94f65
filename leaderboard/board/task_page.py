"""Everything about one task: its row of the overview, its page, and the script that holds its figures."""

import re
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from leaderboard.board.entry import Entry, History, ShownConclusion, Source
from leaderboard.board.highlight import runs
from leaderboard.board.roofs import roofs_of
from leaderboard.board.script_file import script_file
from leaderboard.store_summary import Judged
from tasks.value import Value, digest_of

TEMPLATES = Path(__file__).with_name("templates")


class TaskMaterial(NamedTuple):
    """What is shown of one task."""

    task: str
    subset: str
    entries: Sequence[Entry]
    sources: Iterable[Source]
    histories: Sequence[History] = ()
    conclusions: Sequence[ShownConclusion] = ()
    judged: Judged | None = None
    """From the store, of all candidates that were ever judged."""
    tables: str = ""
    """Which tables of T_SOL and T_b scored it; empty: none did."""


class Row(Value):
    """One task in the overview."""

    slug: str
    task: str
    subset: str
    entries: int
    readiness: str
    """Of the best one; empty without any."""
    agent: str = ""
    device: str = ""
    score: float | None = None
    low: float | None = None
    high: float | None = None
    latency_ms: float | None = None
    updated: str = ""
    tried: int = 0
    audits: int = 0


class TaskPage(NamedTuple):
    row: Row
    html: str
    script: str


def task_page(material: TaskMaterial) -> TaskPage:
    """The page of one task and its data, the best entry first."""
    entries = sorted(material.entries, key=lambda entry: entry.order)
    row = _row(material, entries)
    html = templates().get_template("task.html").render(
        page="task", root="../", title=material.task, row=row, entries=entries, material=material,
        histories=material.histories, conclusions=material.conclusions,
    )  # fmt: skip
    return TaskPage(row, html, script_file(row.slug, _content(material, entries)))


def slug_of(task: str) -> str:
    """A file name for a task: what a person recognises, and the digest where letters had to be replaced."""
    plain = re.sub(r"[^A-Za-z0-9._-]", "_", task.replace("/", "-")).lstrip(".")
    return plain if plain == task.replace("/", "-") else f"{plain or 'task'}-{digest_of(task)[:8]}"


@lru_cache(maxsize=1)
def templates() -> Environment:
    environment = Environment(
        loader=FileSystemLoader(TEMPLATES), autoescape=True, undefined=StrictUndefined,
        trim_blocks=True, lstrip_blocks=True,
    )  # fmt: skip
    environment.filters |= {"score": _score, "time": _time, "slug": slug_of}
    return environment


def _row(material: TaskMaterial, entries: Sequence[Entry]) -> Row:
    best = entries[0] if entries else None
    tried = material.judged.verdicts if material.judged else sum(len(h.tried) for h in material.histories)
    about_best = {} if best is None else _about(best)
    return Row(
        slug=slug_of(material.task),
        task=material.task,
        subset=material.subset,
        entries=len(entries),
        updated=max((entry.judged_at for entry in entries), default="")[:10],
        tried=tried,
        **{"readiness": "", **about_best},
    )


def _about(best: Entry) -> Mapping[str, Any]:
    return {
        "readiness": best.readiness,
        "agent": best.agent,
        "device": best.environment.device,
        "score": best.score,
        "low": best.low,
        "high": best.high,
        "latency_ms": best.latency_ms,
        "audits": sum(w.audit is not None for w in best.workloads),
    }


def _content(material: TaskMaterial, entries: Sequence[Entry]) -> dict[str, Any]:
    """Each source once, whoever uses it; neighbours of one kernel stand side by side, where gzip sees them."""
    by_digest = {source.digest: source for source in material.sources}
    devices = [entry.environment.device for entry in entries] + [entry.foreseen_for for entry in entries]
    return {
        "entries": [entry.model_dump(mode="json", exclude_defaults=True) for entry in entries],
        "histories": [
            history.model_dump(mode="json", exclude_defaults=True) for history in material.histories
        ],
        "roofs": roofs_of(devices),
        "sources": {
            digest: [source.text, runs(source.path, source.text)] for digest, source in by_digest.items()
        },
    }


def _score(value: float | None) -> str:
    return "–" if value is None else f"{value:.4f}"


def _time(value: float | None) -> str:
    """Milliseconds or microseconds, four digits."""
    if value is None:
        return "–"
    return f"{value:.4g} ms" if value >= 1 else f"{value * 1e3:.4g} µs"
