"""CUPTI activity records as evaluator v1.1 uses them: from the first start to the last end of a call's own work.

Kernels, copies and memsets are traced. One discovery call after the warm-up shows which activities belong to
a call, and of a timed call each of them must occur as often as then. Of other names, those that the copies and
flush before the discovery call showed are dropped. Evaluator v1.1 drops all others; here they count: work that was
not shown is work all the same.
Warm-up and discovery calls start on an idle device; timed ones are launched behind the running cache flush.
"""

import importlib.util
from collections.abc import Callable
from functools import partial
from typing import Any

from guard.timers.activities import (
    Activity,
    compact,
    settled_after,
    spans_and_busy_ns,
    without_copies,
    work_of,
)
from guard.timers.base import BadRecords, CallWatch, Records, Step, Timer, Worked

_BUFFER_BYTES = 8 << 20


class Cupti(Timer):
    name = "cupti"
    watches = True

    @staticmethod
    def is_available(device: str) -> bool:
        return device == "cuda" and importlib.util.find_spec("cupti") is not None

    @staticmethod
    def record(prepare: Step, call: Step, warmup: int, timed: int) -> Records:
        import torch

        for index in range(warmup):
            prepare(index)
            torch.cuda.synchronize()
            call(index)
        torch.cuda.synchronize()
        watch = CuptiWatch()
        for index in range(timed + 1):
            prepare(warmup + index)
            if index == 0:
                torch.cuda.synchronize()
            watch.around(partial(call, warmup + index))
        return watch.close()

    @staticmethod
    def times_ms(records: Records) -> list[float]:
        return [span / 1e6 for span, _ in spans_and_busy_ns(records)]

    @staticmethod
    def busy_ms(records: Records) -> list[float] | None:
        return [busy / 1e6 for _, busy in spans_and_busy_ns(records)]

    @staticmethod
    def unsettled(records: Records) -> int:
        return settled_after(records)

    @staticmethod
    def watch() -> CallWatch:
        return CuptiWatch()

    @staticmethod
    def worked(records: Records) -> list[Worked]:
        calls = records.get("calls")
        if not isinstance(calls, list):
            raise BadRecords("there are no activity records")
        return [work_of(call) for call in calls]


class CuptiWatch(CallWatch):
    """One session of tracing, from its making until it is closed."""

    def __init__(self) -> None:
        import torch
        from cupti import cupti

        self._cupti, self._settle = cupti, torch.cuda.synchronize
        self._seen: list[Activity] = []
        self._windows: list[tuple[int, int]] = []
        self._copies: list[int] = []
        self._kinds = (
            cupti.ActivityKind.CONCURRENT_KERNEL, cupti.ActivityKind.MEMCPY, cupti.ActivityKind.MEMSET,
        )  # fmt: skip
        for kind in self._kinds:
            cupti.activity_enable(kind)
        cupti.activity_register_callbacks(
            lambda: (_BUFFER_BYTES, 0),
            lambda activities: self._seen.extend(_activity(cupti, a) for a in activities),
        )

    def around(self, call: Callable[[], object], copies: int = 0) -> None:
        began = self._cupti.get_timestamp()
        call()
        self._settle()
        self._windows.append((began, self._cupti.get_timestamp()))
        self._copies.append(copies)

    def close(self) -> Records:
        self._cupti.activity_flush_all(0)
        for kind in self._kinds:
            self._cupti.activity_disable(kind)
        self._cupti.finalize()
        return without_copies(compact(self._seen, self._windows), self._copies)


def _activity(cupti: Any, activity: Any) -> Activity:
    kind = activity.kind
    if kind == cupti.ActivityKind.CONCURRENT_KERNEL:
        name = str(activity.name)
    elif kind == cupti.ActivityKind.MEMCPY:
        name = f"MEMCPY {activity.copy_kind} {activity.bytes}"
    else:
        name = f"MEMSET {activity.value} {activity.bytes}"
    return name, int(activity.start), int(activity.end)
