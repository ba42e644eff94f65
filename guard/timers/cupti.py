"""CUPTI activity records as evaluator v1.1 uses them: from the first start to the last end of a call's own work.

Kernels, copies and memsets are traced. One discovery call after the warm-up shows which activities belong to
a call, and of a timed call each of them must occur as often as then. Of other names, those that the copies and
flush before the discovery call showed are dropped. Evaluator v1.1 drops all others; here they count: work that was
not shown is work all the same.
Warm-up and discovery calls start on an idle device; timed ones are launched behind the running cache flush.
"""

import importlib.util
from collections import Counter
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from guard.timers.base import BadRecords, CallWatch, Records, Step, Timer, Worked

_BUFFER_BYTES = 8 << 20

Activity = tuple[str, int, int]
"""Name with what tells copies and memsets apart, start and end in nanoseconds."""


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
    def watch() -> CallWatch:
        return CuptiWatch()

    @staticmethod
    def worked(records: Records) -> list[Worked]:
        calls = records.get("calls")
        if not isinstance(calls, list):
            raise BadRecords("there are no activity records")
        return [_worked(call) for call in calls]


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
        return without_copies(_compact(self._seen, self._windows), self._copies)


def without_copies(records: Records, copies: Sequence[int]) -> Records:
    """The same without as many activities at the end of each call; those of a call are ordered by their starts."""
    calls = [call[: max(0, len(call) - n)] for call, n in zip(records["calls"], copies, strict=True)]
    return {**records, "calls": calls}


def _worked(call: list[list[int]]) -> Worked:
    last = {activity[0]: activity for activity in sorted(call, key=lambda a: a[1])}
    busy, once = (_covered(sorted((a[1], a[2]) for a in some)) for some in (call, last.values()))
    return Worked(busy / 1e6, once / 1e6)


def spans_and_busy_ns(records: Records) -> list[tuple[int, int]]:
    """Of each timed call: first start to last end, and the time in which at least one of its activities ran."""
    names, calls, prepared = records.get("names"), records.get("calls"), records.get("prepared")
    if not isinstance(names, list) or not isinstance(calls, list) or len(calls) < 2:
        raise BadRecords("there are no activity records")
    wanted = Counter(activity[0] for activity in calls[0])
    if not wanted:
        raise BadRecords("no kernel activity: the call launched nothing")
    if not isinstance(prepared, list):
        raise BadRecords("what came before the discovery call is not recorded")
    known = {*wanted, *prepared}
    return [_span(call, wanted, known, index) for index, call in enumerate(calls[1:])]


def _span(call: list[list[int]], wanted: Counter[int], known: set[int], index: int) -> tuple[int, int]:
    mine: list[list[int]] = [activity for activity in call if activity[0] not in known]
    for name, count in wanted.items():
        # the flush and the copies of the inputs come before the call in stream order: the last ones are the call's
        found = sorted((a for a in call if a[0] == name), key=lambda a: a[1])[-count:]
        if len(found) < count:
            raise BadRecords(f"timed call {index} lacks an activity that the discovery call showed")
        mine += found
    begin, end = min(a[1] for a in mine), max(a[2] for a in mine)
    if end <= begin:
        raise BadRecords(f"timed call {index} took no time")
    return end - begin, _covered(sorted((a[1], a[2]) for a in mine))


def _covered(spans: list[tuple[int, int]]) -> int:
    """Length of the union of intervals, sorted by their starts."""
    covered, reached = 0, spans[0][0] if spans else 0
    for begin, end in spans:
        covered += max(0, end - max(begin, reached))
        reached = max(reached, end)
    return covered


def _activity(cupti: Any, activity: Any) -> Activity:
    kind = activity.kind
    if kind == cupti.ActivityKind.CONCURRENT_KERNEL:
        name = str(activity.name)
    elif kind == cupti.ActivityKind.MEMCPY:
        name = f"MEMCPY {activity.copy_kind} {activity.bytes}"
    else:
        name = f"MEMSET {activity.value} {activity.bytes}"
    return name, int(activity.start), int(activity.end)


def _compact(seen: list[Activity], windows: list[tuple[int, int]]) -> Records:
    """Activities by the window in which they started, names by number."""
    names: dict[str, int] = {}
    calls: list[list[list[int]]] = [[] for _ in windows]
    seen.sort(key=lambda activity: activity[1])
    prepared = sorted({names.setdefault(n, len(names)) for n, start, _ in seen if start < windows[0][0]})
    cursor = 0
    for name, start, end in seen:
        while cursor < len(windows) and start > windows[cursor][1]:
            cursor += 1
        if cursor < len(windows) and start >= windows[cursor][0]:
            calls[cursor].append([names.setdefault(name, len(names)), start, end])
    return {
        "names": list(names), "calls": calls, "windows": [list(w) for w in windows], "prepared": prepared
    }  # fmt: skip
