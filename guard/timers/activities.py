"""What activity records say of calls: spans, work, and whether the same things ran each time. No torch, no CUPTI."""

from collections import Counter
from collections.abc import Sequence

from guard.timers.base import BadRecords, Records, Worked

Activity = tuple[str, int, int]
"""Name with what tells copies and memsets apart, start and end in nanoseconds."""
_SAME_RUNNING = 3


def without_copies(records: Records, copies: Sequence[int]) -> Records:
    """The same without as many activities at the end of each call; those of a call are ordered by their starts."""
    calls = [call[: max(0, len(call) - n)] for call, n in zip(records["calls"], copies, strict=True)]
    return {**records, "calls": calls}


def work_of(call: list[list[int]]) -> Worked:
    last = {activity[0]: activity for activity in sorted(call, key=lambda a: a[1])}
    busy, once = (_covered(sorted((a[1], a[2]) for a in some)) for some in (call, last.values()))
    return Worked(busy / 1e6, once / 1e6)


def spans_and_busy_ns(records: Records) -> list[tuple[int, int]]:
    """Of each timed call: first start to last end, and the time in which at least one of its activities ran."""
    return [_span(mine, index) for index, mine in enumerate(_of_calls(records))]


def settled_after(records: Records) -> int:
    """How many timed calls pass until each one runs the same activities as the last; all, where that are below three.

    Code that still chooses its kernels, as an autotuner does, is not what it will be.
    """
    sets = [Counter(activity[0] for activity in mine) for mine in _of_calls(records)]
    same = next((n for n, names in enumerate(reversed(sets)) if names != sets[-1]), len(sets))
    return len(sets) - same if same >= min(_SAME_RUNNING, len(sets)) else len(sets)


def _of_calls(records: Records) -> list[list[list[int]]]:
    """Of each timed call the activities that are its own."""
    names, calls, prepared = records.get("names"), records.get("calls"), records.get("prepared")
    if not isinstance(names, list) or not isinstance(calls, list) or len(calls) < 2:
        raise BadRecords("there are no activity records")
    wanted = Counter(activity[0] for activity in calls[0])
    if not wanted:
        raise BadRecords("no kernel activity: the call launched nothing")
    if not isinstance(prepared, list):
        raise BadRecords("what came before the discovery call is not recorded")
    known = {*wanted, *prepared}
    return [_own(call, wanted, known, index) for index, call in enumerate(calls[1:])]


def _own(call: list[list[int]], wanted: Counter[int], known: set[int], index: int) -> list[list[int]]:
    mine: list[list[int]] = [activity for activity in call if activity[0] not in known]
    for name, count in wanted.items():
        # the flush and the copies of the inputs come before the call in stream order: the last ones are the call's
        found = sorted((a for a in call if a[0] == name), key=lambda a: a[1])[-count:]
        if len(found) < count:
            raise BadRecords(f"timed call {index} lacks an activity that the discovery call showed")
        mine += found
    return mine


def _span(mine: list[list[int]], index: int) -> tuple[int, int]:
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


def compact(seen: list[Activity], windows: list[tuple[int, int]]) -> Records:
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
