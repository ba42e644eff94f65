"""CUPTI activity records as evaluator v1.1 uses them: from the first start to the last end of a call's own work.

Kernels, copies and memsets are traced. One discovery call after the warm-up shows which activities belong to
a call, and of a timed call each of them must occur as often as then. Of other names, those that the copies and
flush before the discovery call showed are dropped. Evaluator v1.1 drops all others; here they count: work that was
not shown is work all the same.
Warm-up and discovery calls start on an idle device; timed ones are launched behind the running cache flush.
"""

import importlib.util
from collections import Counter
from typing import Any

from guard.timers.base import BadRecords, Records, Step, Timer

_BUFFER_BYTES = 8 << 20

Activity = tuple[str, int, int]
"""Name with what tells copies and memsets apart, start and end in nanoseconds."""


class Cupti(Timer):
    name = "cupti"

    @staticmethod
    def is_available(device: str) -> bool:
        return device == "cuda" and importlib.util.find_spec("cupti") is not None

    @staticmethod
    def record(prepare: Step, call: Step, warmup: int, timed: int) -> Records:
        import torch
        from cupti import cupti

        for index in range(warmup):
            prepare(index)
            torch.cuda.synchronize()
            call(index)
        torch.cuda.synchronize()
        seen: list[Activity] = []
        kinds = (cupti.ActivityKind.CONCURRENT_KERNEL, cupti.ActivityKind.MEMCPY, cupti.ActivityKind.MEMSET)
        for kind in kinds:
            cupti.activity_enable(kind)
        cupti.activity_register_callbacks(
            lambda: (_BUFFER_BYTES, 0),
            lambda activities: seen.extend(_activity(cupti, a) for a in activities),
        )
        windows = []
        for index in range(timed + 1):
            prepare(warmup + index)
            if index == 0:
                torch.cuda.synchronize()
            began = cupti.get_timestamp()
            call(warmup + index)
            torch.cuda.synchronize()
            windows.append((began, cupti.get_timestamp()))
        cupti.activity_flush_all(0)
        for kind in kinds:
            cupti.activity_disable(kind)
        cupti.finalize()
        return _compact(seen, windows)

    @staticmethod
    def times_ms(records: Records) -> list[float]:
        return [span / 1e6 for span, _ in spans_and_busy_ns(records)]

    @staticmethod
    def busy_ms(records: Records) -> list[float] | None:
        return [busy / 1e6 for _, busy in spans_and_busy_ns(records)]


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
    covered, reached = 0, spans[0][0]
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
