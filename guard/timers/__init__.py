"""Clocks for the official timing loop; results of different timers are never compared."""

from guard.errors import GuardBroken
from guard.timers.base import Timer
from guard.timers.cuda_events import CudaEvents
from guard.timers.cupti import Cupti
from guard.timers.wall import Wall
from guard.verdict import TimerName

TIMERS: dict[TimerName, type[Timer]] = {"cupti": Cupti, "cuda-events": CudaEvents, "wall": Wall}


def choose_timer(device: str, wanted: TimerName | None) -> TimerName:
    """The one asked for, or the most official one that works here; `GuardBroken` when the one asked for does not."""
    if wanted is not None:
        if not TIMERS[wanted].is_available(device):
            raise GuardBroken(
                f"timer {wanted!r} does not work on {device} here (CUPTI comes with the extra `gpu`)"
            )
        return wanted
    if device == "cpu":
        return "wall"
    return next(name for name, timer in TIMERS.items() if timer.is_available(device))


__all__ = ["TIMERS", "Timer", "choose_timer"]
