"""Does the guard notice company on the GPU, and a power cap? Brought about on purpose, ten times each; GPU only."""

import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

from guard.conditions import ConditionsWatch, open_nvml, spoilt_by
from guard.duel_record import Conditions
from guard.errors import GuardBroken
from guard.judge import judge
from guard.program_files import ProgramFailed
from guard.programs import Programs
from guard.protocol import SMOKE
from guard.selftest_task import kinds_candidate, kinds_task, power_task
from guard.session import Session
from tasks.value import Value

TRIALS = 10
_TENANT_S = 0.8
_CAP = "sw-power-cap"
_RESTS, _REST_S = 10, 0.5
_LIMIT_S = 120.0


class Trials(Value):
    """How often what was brought about was noticed."""

    name: str
    tried: int
    noticed: int
    """Of `tried`."""
    false_alarms: int = 0
    """How often it was noticed while it was not there, of as many looks before."""

    def line(self) -> str:
        return f"{self.name}: noticed in {self.noticed} of {self.tried}, and {self.false_alarms} times when not there"


def company_trials(
    session: Session, count: int = TRIALS, left_s: Callable[[], float] = lambda: 1e9
) -> Trials:
    """Another process computes on the GPU while conditions are read; `GuardBroken` when it cannot be started.

    The reference holds the GPU all the while, as it does when anything is judged.
    """
    noticed = false_alarms = tried = 0
    folder = session.scratch / "tenant"
    folder.mkdir(exist_ok=True)
    with Programs(
        folder, "judging"
    ) as tenants:  # a family of its own, that has touched no GPU before it forks
        session.reference(kinds_task(session.device))
        while tried < count and left_s() > 0:
            false_alarms += bool(spoilt_by(_conditions(session, lambda: None, own=1), None))
            seen = _conditions(session, lambda: _tenant(tenants, session), own=1)
            noticed += seen.other_processes > 0 and bool(spoilt_by(seen, None))
            tried += 1
    return Trials(name="company on the GPU", tried=tried, noticed=noticed, false_alarms=false_alarms)


def power_trials(session: Session, count: int = TRIALS, left_s: Callable[[], float] = lambda: 1e9) -> Trials:
    """A product large enough to draw all the power that the card may have; a cap is recorded, and spoils nothing.

    The driver reports a cap for a while after the load that caused it is gone: an idle look waits for that to pass,
    and is a false alarm when it does not, or when the card says so again without a load.
    """
    task, candidate = power_task(), kinds_candidate("cuda")
    protocol = SMOKE.model_copy(update={"official_rounds": 1, "measured_calls": 1, "timed_calls": 100})
    noticed = false_alarms = tried = 0
    while tried < count and left_s() > 0:
        idle = _rested(session)
        false_alarms += _CAP in idle.throttle_reasons
        seen = _conditions(session, lambda: judge(task, candidate, protocol, session), own=2)
        noticed += _CAP in seen.throttle_reasons
        tried += 1
    return Trials(name="power cap", tried=tried, noticed=noticed, false_alarms=false_alarms)


def _rested(session: Session) -> Conditions:
    """An idle card's conditions, once the cap of the last load is no longer reported; the last ones otherwise."""
    idle = _conditions(session, lambda: None, own=1)
    for _ in range(_RESTS):
        if _CAP not in idle.throttle_reasons:
            break
        idle = _conditions(session, lambda: time.sleep(_REST_S), own=1)
    return idle


def _conditions(session: Session, work: Callable[[], object], own: int) -> Conditions:
    """As they were while `work` ran; `own` of our processes hold the GPU then."""
    nvml, handle = open_nvml(session.device)
    with ConditionsWatch(nvml, handle, session.zygote.pid, own=own) as watch, ThreadPoolExecutor(1) as beside:
        beside.submit(work).result()
    return watch.conditions


def _tenant(tenants: Programs, session: Session) -> None:
    try:
        tenants.run(
            "guard.selftest_tenant", {"seconds": _TENANT_S}, limit_s=_LIMIT_S, scratch=session.scratch / "tenant",
            sandboxed=False,
        )  # fmt: skip
    except ProgramFailed as error:
        raise GuardBroken(f"no second process could compute on the GPU: {error}") from error
