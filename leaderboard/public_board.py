"""Saved answers of the public board, read without knowing their exact form.

The board's interface is not documented and may change any day, so nothing here asks for it: a person saves what
the browser shows (the list of kernels, a kernel's ranking) and this reads the files. A field goes by any of the
names below; what is none of them is passed over, and a file in which nothing is recognised is an error.
"""

import json
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from operator import itemgetter
from pathlib import Path
from typing import Any, NamedTuple

from tasks.errors import TaskError

_RANKINGS = ("leaderboard", "entries", "rankings", "results", "submissions", "items", "data", "kernels")
_KERNEL = ("kernel_id", "kernelId", "problem_id", "id")
_PROBLEM = ("kernel_name", "kernelName", "problem_name", "problem", "title")
"""What names the problem in a result, where `name` may be a person's."""
NAME = (*_PROBLEM, "name")
SCORE = ("score", "sol_score", "solScore", "board_score", "best_score", "bestScore")
LATENCY = ("latency_ms", "latencyMs", "board_latency_ms", "latency", "best_latency_ms")
_WHO = ("user", "username", "user_name", "userName", "author", "team", "display_name", "displayName")
WHEN = ("submitted_at", "submittedAt", "created_at", "createdAt", "updated_at", "timestamp", "date")
STACK = ("evaluation_stack_version", "evaluationStackVersion", "stack")


class Placed(NamedTuple):
    """One result on the board."""

    score: float
    latency_ms: float | None = None
    who: str = ""
    at: datetime | None = None


class Ranking(NamedTuple):
    """One kernel's results, best first; none where nobody has any."""

    kernel: str
    """As the board numbers it; empty when the file says only its name."""
    name: str
    placed: tuple[Placed, ...]
    stack: str = ""


def read_rankings(paths: Iterable[Path]) -> tuple[Ranking, ...]:
    """Every kernel in the files, each once: lists of kernels give names, rankings give results.

    `TaskError` for a file in which neither is found.
    """
    names: dict[str, str] = {}
    found: dict[str, Ranking] = {}
    for path in paths:
        known = list(_rankings(read_any_json(path), path.stem))
        if not known:
            raise TaskError(
                "holds no kernel and no ranking that could be recognised", file=path,
                mend=f"save the board's JSON; a result has one of {', '.join(SCORE[:3])}",
            )  # fmt: skip
        for ranking in known:
            key = ranking.kernel or ranking.name
            names[key] = ranking.name or names.get(key, "")
            old = found.get(key)
            if old is None or len(ranking.placed) >= len(old.placed):
                found[key] = ranking
    return tuple(r._replace(name=names[key] or f"kernel {r.kernel}") for key, r in found.items())


def read_any_json(path: Path) -> Any:
    """Whatever JSON is in a file that a person saved; `TaskError` when it is none."""
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        raise TaskError(f"is no JSON that can be read ({error})", file=path, mend="save it again") from error


def _rankings(content: Any, stem: str) -> Iterator[Ranking]:
    """A ranking by itself, a list of kernels with or without rankings inside, or a list of results."""
    if isinstance(content, Mapping):
        yield from _in_object(content, stem)
    elif isinstance(content, Sequence) and not isinstance(content, str):
        yield from _in_list([row for row in content if isinstance(row, dict)], stem)


def _in_object(content: Mapping[str, Any], stem: str) -> Iterator[Ranking]:
    results = _results(content)
    if results:
        yield _ranking(content, results, stem)
    elif first_of(content, _KERNEL) is not None and first_of(content, NAME) is not None:
        yield _ranking(content, [], stem)
    else:
        for part in _parts(content):
            yield from _rankings(part, stem)


def _in_list(rows: Sequence[Mapping[str, Any]], stem: str) -> Iterator[Ranking]:
    results = [row for row in rows if _is_result(row)]
    if rows and len(results) == len(rows) and not any(_kernel_of(row) for row in rows):
        yield _ranking({}, rows, stem)
        return
    yield from _grouped(results, stem)
    if len(results) < len(rows):
        for row in rows:
            if not _is_result(row):
                yield from _rankings(row, stem)


def _grouped(rows: Sequence[Mapping[str, Any]], stem: str) -> Iterator[Ranking]:
    """Results of several kernels in one list, each naming its own."""
    by_kernel: dict[str, list[Mapping[str, Any]]] = {}
    for row in rows:
        by_kernel.setdefault(str(first_of(row, _KERNEL[:3]) or first_of(row, _PROBLEM) or ""), []).append(row)
    for some in by_kernel.values():
        yield _ranking(some[0], some, stem)


def _ranking(about: Mapping[str, Any], rows: Sequence[Mapping[str, Any]], stem: str) -> Ranking:
    placed = sorted(
        map(_placed, rows), key=itemgetter(0), reverse=True
    )  # by score; equal ones keep their order
    kernel = first_of(about, _KERNEL[:3] if _is_result(about) else _KERNEL)
    name = first_of(about, _PROBLEM if _is_result(about) else NAME)
    if rows and kernel is None:
        kernel = first_of(rows[0], _KERNEL[:3])
    if rows and name is None:
        name = first_of(rows[0], _PROBLEM)
    stack = first_of(about, STACK) or next((s for row in rows if (s := first_of(row, STACK))), "")
    unnamed = kernel is None and name is None
    return Ranking(
        kernel="" if kernel is None else str(kernel),
        name=str(name or (stem if unnamed else "")),
        placed=tuple(placed),
        stack=str(stack),
    )


def _results(content: Mapping[str, Any]) -> Sequence[Mapping[str, Any]]:
    """The results of one kernel, where `content` is its ranking."""
    for part in _parts(content):
        rows = [row for row in part if isinstance(row, dict)] if isinstance(part, list) else []
        if rows and _are_of_one_kernel(rows) and all(_is_result(row) for row in rows):
            return rows
    return []


def _parts(content: Mapping[str, Any]) -> Iterator[Any]:
    return (content[name] for name in _RANKINGS if name in content)


def _is_result(row: Mapping[str, Any]) -> bool:
    return number_of(first_of(row, SCORE)) is not None


def _are_of_one_kernel(rows: Sequence[Mapping[str, Any]]) -> bool:
    first = _kernel_of(rows[0])
    return all(_kernel_of(row) == first for row in rows)


def _kernel_of(row: Mapping[str, Any]) -> str:
    """A result's own `id` is its own; only a field that says kernel or problem names that."""
    return str(first_of(row, _KERNEL[:3]) or first_of(row, _PROBLEM) or "")


def _placed(row: Mapping[str, Any]) -> Placed:
    who = first_of(row, _WHO)
    who = first_of(who, (*_WHO, "name")) if isinstance(who, dict) else who
    score = number_of(first_of(row, SCORE))
    return Placed(
        score or 0.0, number_of(first_of(row, LATENCY)), str(who or ""), moment_of(first_of(row, WHEN))
    )


def first_of(row: Mapping[str, Any], names: Sequence[str]) -> Any:
    """The first field of `row` that goes by one of `names` and says something."""
    for name in names:  # a plain loop: this is asked a million times of a large board
        value = row.get(name)
        if value is not None:
            return value
    return None


def number_of(value: Any) -> float | None:
    """A finite number, also where it is written as text."""
    if type(value) is float:  # nearly always, a hundred thousand times
        return value if math.isfinite(value) else None
    if isinstance(value, str):
        value = value.strip()
        if not value[:1].isdigit() and value[:1] not in ("-", ".", "+"):
            return None
        try:
            value = float(value)
        except ValueError:
            return None
    is_number = isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)
    return float(value) if is_number else None


def moment_of(value: Any) -> datetime | None:
    """ISO 8601, or seconds or milliseconds since 1970; without an offset it is UTC."""
    is_iso = isinstance(value, str) and "-" in value
    number = None if is_iso else number_of(value)
    try:
        if number is not None:
            return datetime.fromtimestamp(number / (1e3 if number > 1e11 else 1), UTC)
        moment = datetime.fromisoformat(str(value))
    except (ValueError, OverflowError, OSError):
        return None
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)
