"""Results out of what a person saved from the portal: its JSON, or a result page as HTML.

Neither form is documented. A field goes by the names of `leaderboard.public_board`; a page is searched for JSON
in its scripts and for tables with a head that says status. What is sure is taken into the ledger, and what could
belong to several uploads is named instead.
"""

import json
from collections.abc import Collection, Iterator, Mapping, Sequence
from html.parser import HTMLParser
from pathlib import Path
from typing import Any, Literal, NamedTuple

from leaderboard.desk import Ledger, Result
from leaderboard.public_board import (
    LATENCY,
    NAME,
    SCORE,
    STACK,
    WHEN,
    first_of,
    moment_of,
    number_of,
    read_any_json,
)
from tasks.errors import TaskError

_STATUS = ("status", "state", "result", "outcome")
_FILE = ("file_sha256", "file_digest", "sha256", "digest", "hash")
_PORTAL_ID = ("submission_id", "submissionId", "id")
_PASSED = ("passed", "pass", "success", "succeeded", "completed", "ok", "accepted")
_FAILED = ("failed", "fail", "error", "rejected", "timeout", "incorrect")


class Imported(NamedTuple):
    results: tuple[Result, ...]
    """Each for one upload that waits for it."""
    not_taken: tuple[str, ...]
    """What was found and could not be taken, each with the cause."""


def import_results(path: Path, ledger: Ledger, at: str) -> Imported:
    """The results in a saved file, for uploads of `ledger` that wait; `at` stands where the file says no time.

    `TaskError` when the file cannot be read or holds no result.
    """
    rows = list(_rows(path))
    if not rows:
        raise TaskError(
            "holds no result",
            file=path,
            mend="save the result page or its JSON, or use `kernelarc desk result`",
        )
    results: list[Result] = []
    not_taken = []
    for row in rows:
        taken = result_of(row, ledger, at, {r.file_digest for r in results})
        if isinstance(taken, Result):
            results.append(taken)
        else:
            not_taken.append(taken)
    return Imported(tuple(results), tuple(not_taken))


def result_of(row: Mapping[str, Any], ledger: Ledger, at: str, known: Collection[str] = ()) -> Result | str:
    """The one upload's result that `row` tells of, else why it is not taken. `known` were answered just now."""
    named = str(first_of(row, (*_FILE, *_PORTAL_ID, *NAME)) or "a result")
    status = status_of(row)
    if status is None:
        return f"{named}: it is not finished, or its status is no known one ({first_of(row, _STATUS)!r})"
    task = str(first_of(row, ("kernel_name", "kernelName", *NAME)) or "")
    waiting = ledger.waiting_for(str(first_of(row, _FILE) or ""), str(first_of(row, _PORTAL_ID) or ""), task)
    waiting = tuple(sent for sent in waiting if sent.file_digest not in known)
    if len({sent.file_digest for sent in waiting}) != 1:
        return f"{named}: {len(waiting)} uploads could be meant; say it with `kernelarc desk result`"
    when = moment_of(first_of(row, WHEN))
    return Result(
        file_digest=waiting[0].file_digest,
        status=status,
        score=_figure(first_of(row, SCORE)),
        latency_ms=_figure(first_of(row, LATENCY)),
        stack=str(first_of(row, STACK) or ""),
        at=when.isoformat() if when else at,
    )


def status_of(row: Mapping[str, Any]) -> Literal["passed", "failed"] | None:
    """Passed or failed by the words that portals use; None for what is still running, and for other words."""
    word = str(first_of(row, _STATUS) or "").strip().lower()
    if word in _PASSED:
        return "passed"
    return "failed" if word in _FAILED else None


def _figure(value: Any) -> float | None:
    number = (
        number_of(str(value).split()[0]) if isinstance(value, str) and value.strip() else number_of(value)
    )
    return number if number is not None and number > 0 else None


def _rows(path: Path) -> Iterator[Mapping[str, Any]]:
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise TaskError(f"cannot be read: {error}", file=path, mend="save it again") from error
    if text.lstrip()[:1] in ("{", "["):
        yield from _results_in(read_any_json(path))
        return
    page = _Page()
    page.feed(text)
    yield from page.rows()


def _results_in(content: Any) -> Iterator[Mapping[str, Any]]:
    """Every object with a status and something that tells which upload it is about, however deep."""
    if isinstance(content, Mapping):
        about = first_of(content, (*_FILE, *_PORTAL_ID, *NAME))
        if isinstance(first_of(content, _STATUS), str) and about is not None:
            yield content
            return
        content = list(content.values())
    if isinstance(content, Sequence) and not isinstance(content, str):
        for part in content:
            yield from _results_in(part)


class _Page(HTMLParser):
    """JSON in scripts, and the cells of tables."""

    def __init__(self) -> None:
        super().__init__()
        self._scripts: list[str] = []
        self._tables: list[list[list[str]]] = []
        self._in_script = False
        self._in_cell = False

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self._in_script = tag == "script" and ("type", "application/json") in attrs
        if self._in_script:
            self._scripts.append("")
        elif tag == "table":
            self._tables.append([])
        elif tag == "tr" and self._tables:
            self._tables[-1].append([])
        elif tag in ("td", "th") and self._tables and self._tables[-1]:
            self._tables[-1][-1].append("")
            self._in_cell = True

    def handle_endtag(self, tag: str) -> None:
        self._in_script = self._in_script and tag != "script"
        self._in_cell = self._in_cell and tag not in ("td", "th")

    def handle_data(self, data: str) -> None:
        if self._in_script:
            self._scripts[-1] += data
        elif self._in_cell:
            self._tables[-1][-1][-1] += data

    def rows(self) -> Iterator[Mapping[str, Any]]:
        for script in self._scripts:
            try:
                yield from _results_in(json.loads(script))
            except (ValueError, RecursionError):
                continue
        for table in self._tables:
            heads = (
                [head.strip().lower().replace(" (ms)", "_ms").replace(" ", "_") for head in table[0]]
                if table
                else []
            )
            if "status" in heads:
                for row in table[1:]:
                    yield {head: cell.strip() for head, cell in zip(heads, row, strict=False) if cell.strip()}
