"""The driver series as the page shows them: one point a session."""

from collections.abc import Mapping
from math import exp
from pathlib import Path
from typing import NamedTuple

from pydantic import ValidationError

from leaderboard.sessions import Session, examine
from tasks.document import read_json
from tasks.errors import TaskError


class Point(NamedTuple):
    taken_at: str
    driver: str | None
    ms: float


class ShownSeries(NamedTuple):
    name: str
    device: str
    lines: tuple[str, ...]
    """What the series says of its newest driver."""
    points: tuple[Point, ...]
    steps: tuple[str, ...]
    """When the first session after each change was taken."""


def read_series(root: Path, names: Mapping[str, str]) -> tuple[tuple[ShownSeries, ...], tuple[str, ...]]:
    """Every series below `root`, and the files that are no sessions. `names` are of snapshots, by digest."""
    found: dict[tuple[str, str | None], list[Session]] = {}
    skipped = []
    for path in sorted(root.glob("*/*.json")):
        try:
            session = Session.model_validate(read_json(path).content)
        except (ValidationError, TaskError) as error:
            skipped.append(f"{path}: {str(error).splitlines()[0]}")
            continue
        found.setdefault((session.snapshot, session.environment.uuid), []).append(session)
    shown = (_shown(sessions, names) for _, sessions in sorted(found.items(), key=lambda item: str(item[0])))
    return tuple(shown), tuple(skipped)


def _shown(sessions: list[Session], names: Mapping[str, str]) -> ShownSeries:
    ordered = sorted(sessions, key=lambda session: session.taken_at)
    said = examine(ordered)
    last = ordered[-1]
    return ShownSeries(
        name=names.get(last.snapshot, last.snapshot[:12]),
        device=last.environment.device,
        lines=said.lines(),
        points=tuple(Point(s.taken_at, s.environment.driver, exp(s.location)) for s in ordered),
        steps=tuple(step.session for step in said.steps or ()),
    )
