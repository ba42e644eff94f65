"""What the rows of a record say of each bar; nothing but them is looked at."""

from collections.abc import Iterator
from typing import Any

Row = dict[str, Any]
_QUIET = 0.01
"""Spread between processes up to which a workload must be reproduced."""


def summary(rows: list[Row]) -> list[str]:
    """A line for each step that has a row."""
    found = {kind: [row for row in rows if row["step"] == kind] for kind in _SAID}
    return [f"{kind}: {say(found[kind])}" for kind, say in _SAID.items() if found[kind]]


def met(rows: list[Row]) -> dict[str, bool]:
    """By step, whether its bar is met; a step without rows is left out, one that could not be compared is not met."""
    found = {kind: [row for row in rows if row["step"] == kind] for kind in _MET}
    return {kind: bool(holds(found[kind])) for kind, holds in _MET.items() if found[kind]}


def _workloads(rows: list[Row]) -> Iterator[dict[str, Any]]:
    for row in rows:
        yield from row.get("workloads", ())


def _found(rows: list[Row]) -> list[str]:
    """Tasks of which anything was found to be slower or faster."""
    moved = ("SLOWER", "FASTER")
    return [row["task"] for row in rows if any(w["answer"] in moved for w in row.get("workloads", ()))]


def _quiet(rows: list[Row]) -> list[dict[str, Any]]:
    return [w for w in _workloads(rows) if w["spread"] <= _QUIET]


def _reproduced(rows: list[Row]) -> int:
    return sum(w["answer"] == "REPRODUCED" for w in _quiet(rows))


def _all_compared(rows: list[Row]) -> bool:
    return all(row.get("workloads") for row in rows)


def _expected(rows: list[Row]) -> list[str]:
    return [row["task"] for row in rows if row.get("injected")]


def _slowed(rows: list[Row]) -> str:
    count = [w["answer"] for row in rows if row.get("injected") for w in row.get("workloads", ())]
    ratios = [f"{w['ratio']:.4f}" for row in rows if row.get("injected") for w in row.get("workloads", ())]
    return (
        f"lengthened {', '.join(_expected(rows)) or 'nothing'}, found {', '.join(_found(rows)) or 'nothing'}; "
        f"SLOWER in {count.count('SLOWER')} of {len(count)} workloads, ratios {', '.join(ratios)}{_faults(rows)}"
    )


def _compared(rows: list[Row]) -> str:
    answers = [w["answer"] for w in _workloads(rows)]
    said = ", ".join(f"{answers.count(each)} {each}" for each in dict.fromkeys(answers))
    found = ", ".join(_found(rows)) or "nothing"
    return (
        f"{said or 'nothing compared'}; reproduced {_reproduced(rows)} of {len(_quiet(rows))} with a spread of "
        f"{_QUIET:.0%} or less; found {found}{_faults(rows)}"
    )


def _taken(rows: list[Row]) -> str:
    taken = [row["task"] for row in rows if "file" in row]
    return f"{len(taken)} snapshots ({', '.join(taken)}){_faults(rows)}"


def _faults(rows: list[Row]) -> str:
    faults = [f"; {row['task']}: {row['why']}" for row in rows if "why" in row]
    barred = [f"; {row['task']}: {row['answer']} ({'; '.join(row['differences'])})" for row in rows
              if row.get("answer") in ("NOT COMPARABLE", "REJECTED")]  # fmt: skip
    return "".join([*faults, *barred])


def _alone(rows: list[Row]) -> bool:
    """What was lengthened is SLOWER in every workload, and nothing else moved."""
    own = [w["answer"] for row in rows if row.get("injected") for w in row.get("workloads", ())]
    return (
        _all_compared(rows)
        and _found(rows) == _expected(rows)
        and bool(own)
        and all(a == "SLOWER" for a in own)
    )


_SAID = {
    "sentinels": _taken, "champions": _taken, "same": _compared, "injected": _slowed, "repeats": _compared,
    "delayed": _slowed,
}  # fmt: skip
_MET = {
    "same": lambda rows: _all_compared(rows) and not _found(rows),
    "injected": _alone,
    "repeats": lambda rows: (
        _all_compared(rows)
        and not _found(rows)
        and bool(_quiet(rows))
        and _reproduced(rows) >= 0.9 * len(_quiet(rows))
    ),
    "delayed": _alone,
}
