"""`docs/shipped-tasks.md`: what ships, what bounds it, and what its tolerance lets through."""

from collections.abc import Iterable, Sequence
from pathlib import Path

from scripts.shipped.assemble import ShippedTask
from tasks.value import Value

PAGE = Path(__file__).resolve().parents[2] / "docs" / "shipped-tasks.md"
_OPENING = """# The shipped tasks

Made by `python -m scripts.tolerance_table --write`; the tasks themselves by `python -m scripts.shipped` from
`scripts/shipped/` and each `reference.py`. Their digests are frozen in `tests/tasks/shipped_digests.json`.

An element of an output passes when it is off by no more than `max_atol + max_rtol * |expected|`, and 99 % of the
elements of each output must pass.
"""
_MEASURED = """
## What the tolerances let through

Every task computed otherwise, on the CPU from fixed seeds: the matched ratio of the worst output, and the
99.9th percentile of the error as a share of what is allowed. Honest arithmetic must match at least 0.999, wrong
answers less than the 0.99 that a task demands.
"""


class Match(Value):
    """How one alternative does at one size."""

    task: str
    axes: dict[str, int]
    alternative: str
    honest: bool
    matched: float
    """Smallest share, over outputs, of elements within tolerance."""
    tightness: float
    """99.9th percentile, over elements of the worst output, of error divided by what is allowed."""

    @property
    def sizes(self) -> str:
        return ", ".join(f"{axis} {value}" for axis, value in self.axes.items())

    def __str__(self) -> str:
        kind = "honest" if self.honest else "wrong"
        return f"{kind:6} {self.alternative:30} {self.matched:.4f} {self.tightness:9.3f}  {self.sizes}"


def page(tasks: Sequence[ShippedTask], matches: Iterable[Match]) -> str:
    rows = ["", "| task | sizes of | workloads | bound by | atol | rtol |", "|---|---|---|---|---|---|"]
    rows += [
        f"| `{task.name}` | {task.hf_id} | {len(task.sizes)} | {task.bound_by} "
        f"| {task.tolerance.max_atol:g} | {task.tolerance.max_rtol:g} |"
        for task in tasks
    ]
    found = list(matches)
    parts = [_OPENING, *(f"{row}\n" for row in rows), _MEASURED]
    for task in tasks:
        parts.append(f"\n### {task.name}\n\n{_wrapped(task)}\n")
        parts.extend(_table([match for match in found if match.task == task.name]))
    return "".join(parts)


def _wrapped(task: ShippedTask) -> str:
    return " ".join(f"{task.computes} {task.tolerance_because}".split())


def _table(matches: Sequence[Match]) -> Iterable[str]:
    yield "\n| | alternative | matched | error / allowed | size |\n|---|---|---|---|---|\n"
    for match in matches:
        kind = "honest" if match.honest else "wrong"
        yield (
            f"| {kind} | {match.alternative} | {match.matched:.4f} | {match.tightness:.2f} | {match.sizes} |\n"
        )
