"""The driver series: one number a session for every workload of a snapshot, on one card.

A session is one run of `regress`: a fresh boot or container, several processes, its median. Each is one file
named by its digest, so that two machines may write beside each other and nothing is ever changed.
"""

import json
import math
import statistics
from collections.abc import Sequence
from pathlib import Path
from typing import Literal

from pydantic import ValidationError, field_validator

from guard.verdict import Environment
from leaderboard.whole_file import write_whole
from tasks.document import read_json
from tasks.errors import TaskError
from tasks.value import Value, digest_of

NEW_SESSIONS, OLD_SESSIONS, FOR_CHANGE_POINTS = 3, 8, 24
SUSPICIOUS_Z = 5.0


class Session(Value):
    format: Literal["kernelarc-session-1"] = "kernelarc-session-1"
    snapshot: str
    taken_at: str
    """ISO 8601 with its offset."""
    environment: Environment
    medians_ms: dict[str, float]
    """By a workload's uuid: the median over this session's processes."""

    @field_validator("medians_ms")
    @classmethod
    def _are_times(cls, medians: dict[str, float]) -> dict[str, float]:
        if not medians or not all(math.isfinite(m) and m > 0 for m in medians.values()):
            raise ValueError("a session holds a positive time for at least one workload")
        return medians

    @property
    def location(self) -> float:
        """Mean logarithm over the workloads: the session's one number, comparable where the workloads are."""
        return statistics.fmean(math.log(m) for m in self.medians_ms.values())


class Step(Value):
    """Where the series changed for good."""

    session: str
    """When the first session after the step was taken."""
    ratio: float
    p: float


class DriverSeries(Value):
    """What the series says of the newest driver. `slower` is None while there are too few sessions to say."""

    driver: str | None
    old_sessions: int
    new_sessions: int
    slower: bool | None
    ratio: float | None = None
    """New driver's sessions over the old ones'."""
    p: float | None = None
    suspicious: bool = False
    """Too few to say, but the newest session stands out: three are wanted."""
    steps: tuple[Step, ...] | None = None
    """None with fewer sessions than change points need."""

    def lines(self) -> tuple[str, ...]:
        counted = f"driver {self.driver}: {self.new_sessions} sessions against {self.old_sessions} before"
        if self.slower is None:
            wanted = f"{NEW_SESSIONS} and {OLD_SESSIONS} are needed to say more"
            doubt = "; the newest stands far above the old ones" if self.suspicious else ""
            said = f"{counted}; {wanted}{doubt}"
        else:
            said = f"{counted}: {'SLOWER' if self.slower else 'not slower'}, ratio {self.ratio:.4f}, p {self.p:.4f}"
        steps = (f"step of {s.ratio - 1:+.2%} at {s.session} (p {s.p:.3f})" for s in self.steps or ())
        return (said, *steps)


def write_session(session: Session, root: Path) -> Path:
    digest = digest_of(session.model_dump(mode="json"))
    path = root / session.snapshot[:12] / f"{digest[:12]}.json"
    write_whole(path, json.dumps(session.model_dump(mode="json"), sort_keys=True, indent=1) + "\n")
    return path


def read_sessions(root: Path, snapshot: str, card: str | None) -> tuple[Session, ...]:
    """Those of one snapshot on one card, in the order taken; `TaskError` names a file that is none."""
    found = []
    for path in sorted((root / snapshot[:12]).glob("*.json")):
        try:
            session = Session.model_validate(read_json(path).content)
        except ValidationError as error:
            raise TaskError(
                f"is no session: {error.errors()[0]['msg']}", file=path, mend="move it away"
            ) from error
        if session.snapshot == snapshot and session.environment.uuid == card:
            found.append(session)
    return tuple(sorted(found, key=lambda session: session.taken_at))


def examine(sessions: Sequence[Session]) -> DriverSeries:
    """What `sessions` of one snapshot and card, in the order taken, say of the driver of the last one.

    Only sessions with the workloads of the last one count. One test, of the mean over the workloads, so that
    three new sessions can show something (k 3 against n 8 gives p 0.6 % at best; no room for sixteen tests).
    """
    from guard.statistics.series import look_back_z, new_sessions_slower

    if not sessions:
        raise ValueError("a series needs a session")
    last = sessions[-1]
    same = [s for s in sessions if set(s.medians_ms) == set(last.medians_ms)]
    driver = last.environment.driver
    new = [s.location for s in same if s.environment.driver == driver]
    old = [s.location for s in same if s.environment.driver != driver]
    steps = _steps(same) if len(same) >= FOR_CHANGE_POINTS else None
    known = DriverSeries(
        driver=driver, old_sessions=len(old), new_sessions=len(new), slower=None, steps=steps
    )
    if len(new) < NEW_SESSIONS or len(old) < OLD_SESSIONS:
        doubtful = len(old) >= OLD_SESSIONS and look_back_z(new[-1], old) > SUSPICIOUS_Z
        return known.model_copy(update={"suspicious": doubtful})
    gate = new_sessions_slower(new, old)
    return known.model_copy(update={"slower": bool(gate.slower), "ratio": gate.ratio, "p": gate.p})


def _steps(sessions: Sequence[Session]) -> tuple[Step, ...]:
    from guard.statistics.series import change_points

    points = change_points([session.location for session in sessions])
    return tuple(Step(session=sessions[p.session].taken_at, ratio=p.ratio, p=p.p) for p in points)
