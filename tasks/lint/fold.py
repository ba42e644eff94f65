"""One line instead of a hundred: findings that differ only in the workload they stand on."""

import re
from collections.abc import Iterable, Sequence
from pathlib import PurePath

from tasks.task import LintFinding

_PLACE = re.compile(r"^(?P<before>.*?)(?P<word>line|workload) (?P<number>\d+): (?P<field>.*)$")

_PLACES = re.compile(r"^(?:.*?)(?:lines?|workloads?) [\d,-]+: (?P<field>.*)$")
_PARTICULAR = re.compile(r"'[^']*'|\d[\d.,e+-]*")
"""Names in quotes, and numbers."""


def fold(findings: Iterable[LintFinding]) -> tuple[LintFinding, ...]:
    """Findings of one code and field in one file as one, whose field names the lines: `lines 1-16: tolerance`."""
    groups: dict[tuple[str, ...], list[tuple[int, LintFinding]]] = {}
    for finding in findings:
        match = _PLACE.match(finding.field)
        start = (finding.level, finding.code, finding.file)
        if match is None:
            groups.setdefault((*start, finding.field, finding.problem), []).append((0, finding))
        else:
            key = (*start, match["before"], match["word"], match["field"])
            groups.setdefault(key, []).append((int(match["number"]), finding))
    return tuple(_folded(key, group) for key, group in groups.items())


def across_files(findings: Iterable[LintFinding]) -> list[str]:
    """As text for people, in the order given: what is said again in the same words, but for names and numbers, is
    said once, of the first."""
    groups: dict[tuple[str, ...], list[LintFinding]] = {}
    for finding in findings:
        match = _PLACES.match(finding.field)
        field = match["field"] if match else finding.field
        words = (_PARTICULAR.sub("#", text) for text in (field, finding.problem, finding.mend))
        groups.setdefault((finding.level, finding.code, PurePath(finding.file).name, *words), []).append(
            finding
        )
    return [_said_once(group) for group in groups.values()]


def _said_once(group: Sequence[LintFinding]) -> str:
    first, files = group[0], len({finding.file for finding in group})
    if len(group) == 1:
        return str(first)
    where = f", {files} files in all" if files > 1 else ""
    return f"{first} (and {len(group) - 1} more like it{where})"


def _folded(key: tuple[str, ...], group: Sequence[tuple[int, LintFinding]]) -> LintFinding:
    first = group[0][1]
    if len(group) == 1 or not group[0][0]:
        return first
    before, word, field = key[3:]
    numbers = [number for number, _ in group]
    alike = len({finding.problem for _, finding in group}) == 1
    problem = first.problem if alike else f"{first.problem}; and {len(group) - 1} more like it"
    return first.model_copy(
        update={"field": f"{before}{word}s {_ranges(numbers)}: {field}", "problem": problem}
    )


def _ranges(numbers: Sequence[int]) -> str:
    """`1-3,7` for 1, 2, 3, 7."""
    spans: list[list[int]] = []
    for number in sorted(set(numbers)):
        if spans and number == spans[-1][1] + 1:
            spans[-1][1] = number
        else:
            spans.append([number, number])
    return ",".join(str(a) if a == b else f"{a}-{b}" for a, b in spans)
