"""Our bounds beside the published ones, as data and as the table in docs/concepts/speed-of-light.md.

python -m scripts.sol_table [--out docs/results/speed-of-light.json] [--page docs/concepts/speed-of-light.md] [TASK ...]

Rows hold names, counts and our own figures, never the data set's. Needs $SOL_EXECBENCH_DATA.
"""

import argparse
import json
import os
import sys
import time
from datetime import date
from pathlib import Path
from typing import Any

import tasks
from leaderboard.tables import read_published
from leaderboard.whole_file import write_whole
from tasks.catalogue import list_tasks
from tasks.gpu import load_gpu
from tasks.speed_of_light import Bound, speed_of_light
from tasks.task import Task

SHARE, ABSOLUTE_MS = 0.05, 0.05e-3
"""Two bounds agree within 5 % or 0.05 us, whichever is more."""
BEGIN, END = "<!-- made by python -m scripts.sol_table -->", "<!-- end -->"
HEAD = (
    "problem", "workloads", "published pricing, B200 ms", "bound by", "4 decimals: agree", "others: agree",
    "physical, H200 ms", "bound by", "seconds",
)  # fmt: skip


def agree(ours_ms: float, published_ms: float) -> bool:
    return abs(ours_ms - published_ms) <= max(SHARE * published_ms, ABSOLUTE_MS)


def has_four_decimals(published_ms: float) -> bool:
    """Whether it was published rounded: the other values were made in other ways."""
    return round(published_ms, 4) == published_ms


def published_of(task: Task, folder: Path) -> dict[str, float]:
    """T_SOL by workload, from the file beside an official problem; empty where there is none."""
    file = folder / "published.json"
    return read_published(file, task, date.today()).t_sol.times_ms[task.name] if file.is_file() else {}


def row(name: str, roots: tuple[Path, ...]) -> dict[str, Any]:
    task = tasks.load(name, data_roots=roots)
    started = time.monotonic()
    ours = speed_of_light(task, load_gpu("B200"), "published")
    physical = speed_of_light(task, load_gpu("H200"), "physical")
    seconds = time.monotonic() - started
    folder = next((root / name for root in roots if (root / name).is_dir()), Path(name))
    return {
        "task": name,
        "workloads": len(ours),
        "published": _figures(ours),
        "physical": _figures(physical),
        "agreement": _agreement(ours, published_of(task, folder)),
        "seconds": round(seconds, 1),
        "notes": sorted({bound.note for bound in (*ours, *physical) if bound.note}),
    }


def _figures(bounds: tuple[Bound, ...]) -> dict[str, Any]:
    return {
        "t_sol_ms": [float(f"{bound.t_sol_ms:.4g}") for bound in bounds],
        "bound_by": sorted({bound.bound_by for bound in bounds}),
    }


def _agreement(ours: tuple[Bound, ...], published: dict[str, float]) -> dict[str, list[int]]:
    """Of the values with four decimals and of the others: how many agree, and of how many."""
    found = {"four": [0, 0], "others": [0, 0]}
    for bound in ours:
        if bound.uuid in published:
            counts = found["four" if has_four_decimals(published[bound.uuid]) else "others"]
            counts[0] += agree(bound.t_sol_ms, published[bound.uuid])
            counts[1] += 1
    return found


def table(rows: list[dict[str, Any]]) -> str:
    lines = ["| " + " | ".join(HEAD) + " |", "|" + "---|" * len(HEAD)]
    for one in rows:
        four, others = one["agreement"]["four"], one["agreement"]["others"]
        cells = (
            one["task"], one["workloads"], _span(one["published"]), " ".join(one["published"]["bound_by"]),
            _of(four), _of(others), _span(one["physical"]), " ".join(one["physical"]["bound_by"]), one["seconds"],
        )  # fmt: skip
        lines.append("| " + " | ".join(map(str, cells)) + " |")
    sums = [[sum(r["agreement"][k][i] for r in rows) for i in (0, 1)] for k in ("four", "others")]
    lines += ["", f"With four decimals {_of(sums[0])} agree, of the others {_of(sums[1])}."]
    return "\n".join(lines)


def _of(counts: list[int]) -> str:
    return f"{counts[0]} of {counts[1]}" if counts[1] else "-"


def _span(figures: dict[str, Any]) -> str:
    times = figures["t_sol_ms"]
    return f"{min(times)} to {max(times)}"


def _named(roots: tuple[Path, ...]) -> list[str]:
    official = [
        str(p.parent.relative_to(root)) for root in roots for p in sorted(root.glob("*/*/definition.json"))
    ]
    return official + [entry.name for entry in list_tasks() if entry.source == "shipped"]


def _known(out: Path) -> list[dict[str, Any]]:
    """Rows of an earlier run: those of tasks that are named now are replaced."""
    rows: list[dict[str, Any]] = json.loads(out.read_text(encoding="utf-8"))["rows"] if out.is_file() else []
    return rows


def _put(page: Path, made: str) -> None:
    before, rest = page.read_text(encoding="utf-8").split(BEGIN, 1)
    write_whole(page, f"{before}{BEGIN}\n{made}\n{END}{rest.split(END, 1)[1]}")


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "tasks", nargs="*", metavar="TASK", help="all official and shipped ones when left out"
    )
    parser.add_argument("--out", type=Path, default=Path("docs/results/speed-of-light.json"))
    parser.add_argument("--page", type=Path, default=Path("docs/concepts/speed-of-light.md"))
    given = parser.parse_args()
    data = os.environ.get("SOL_EXECBENCH_DATA")
    roots = (Path(data),) if data else ()
    known = {one["task"]: one for one in _known(given.out)}
    rows: list[dict[str, Any]] = []
    for name in given.tasks or _named(roots):
        known[name] = row(name, roots)
        rows = [known[task] for task in _named(roots) if task in known]
        content = {"command": "python -m scripts.sol_table", "rows": rows}
        write_whole(given.out, json.dumps(content, indent=1) + "\n")
        print(name, _of(known[name]["agreement"]["four"]), f"{known[name]['seconds']} s", flush=True)
    _put(given.page, table(rows))
    print(table(rows))
    return 0


if __name__ == "__main__":
    sys.exit(main())
