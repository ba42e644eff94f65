"""The whole page: written beside its place and moved there, so that nobody opens half of it."""

import json
import shutil
from collections.abc import Iterable, Sequence
from importlib.resources import files
from importlib.util import find_spec
from pathlib import Path
from tempfile import mkdtemp
from typing import NamedTuple

from leaderboard.board.script_file import script_file
from leaderboard.board.series import ShownSeries
from leaderboard.board.task_page import Row, TaskPage, templates
from tasks.errors import TaskError

ASSETS = Path(__file__).with_name("assets")
MARK = "board.json"
"""Says that a folder is a page of ours, which may be replaced."""


class Site(NamedTuple):
    folder: Path
    tasks: int
    entries: int
    size: int
    """Bytes of all files."""


def write_site(
    out: Path,
    pages: Iterable[TaskPage],
    series: Sequence[ShownSeries],
    *,
    problems: int | None = None,
    skipped: Sequence[str] = (),
) -> Site:
    """The folder `out` with everything in it. `problems` is how many the benchmark has, for the mean score.

    `TaskError` when `out` holds something else, or when the plotting library is not installed. `skipped` may
    still grow while `pages` are made: it is read after them.
    """
    library = plotting_library()
    if out.exists() and not (out / MARK).is_file() and any(out.iterdir()):
        raise TaskError("is there and is no page of ours", file=out, mend="name another folder with --out")
    out.parent.mkdir(parents=True, exist_ok=True)
    partial = Path(mkdtemp(prefix=f".{out.name}.", dir=out.parent))
    try:
        rows = _write_tasks(partial, pages)
        _write_rest(partial, rows, series, problems, skipped, library)
        size = sum(path.stat().st_size for path in partial.rglob("*") if path.is_file())
        partial.chmod(0o755)
        _move(partial, out)
    except BaseException:
        shutil.rmtree(partial, ignore_errors=True)
        raise
    return Site(out, len(rows), sum(row.entries for row in rows), size)


def plotting_library() -> Path:
    """The script that Plotly's own package brings."""
    if find_spec("plotly") is None:
        raise TaskError("needs Plotly, which is not installed", mend="pip install 'kernelarc[web]'")
    return Path(str(files("plotly") / "package_data" / "plotly.min.js"))


def _write_tasks(folder: Path, pages: Iterable[TaskPage]) -> list[Row]:
    for name in ("tasks", "data"):
        (folder / name).mkdir()
    rows = []
    for page in pages:
        (folder / "tasks" / f"{page.row.slug}.html").write_text(page.html, encoding="utf-8")
        (folder / "data" / f"{page.row.slug}.js").write_text(page.script, encoding="utf-8")
        rows.append(page.row)
    return sorted(rows, key=lambda row: row.task)


def _write_rest(
    folder: Path,
    rows: Sequence[Row],
    series: Sequence[ShownSeries],
    problems: int | None,
    skipped: Sequence[str],
    library: Path,
) -> None:
    index = templates().get_template("index.html").render(
        page="index", root="", title="Leaderboard", rows=rows, total=sum(row.entries for row in rows),
        subsets=sorted({row.subset for row in rows if row.subset}),
        devices=sorted({row.device for row in rows if row.device}),
        benchmark=_benchmark(rows, problems), skipped=skipped,
    )  # fmt: skip
    drivers = (
        templates()
        .get_template("drivers.html")
        .render(page="drivers", root="", title="Drivers", series=series)
    )
    shown = [{"points": [p._asdict() for p in s.points], "steps": s.steps} for s in series]
    (folder / "index.html").write_text(index, encoding="utf-8")
    (folder / "drivers.html").write_text(drivers, encoding="utf-8")
    (folder / "data" / "drivers.js").write_text(script_file("drivers", {"series": shown}), encoding="utf-8")
    shutil.copytree(ASSETS, folder / "assets")
    shutil.copyfile(library, folder / "assets" / "plotly.min.js")
    mark = {"format": "kernelarc-board-1", "tasks": [row.model_dump(mode="json") for row in rows]}
    (folder / MARK).write_text(json.dumps(mark, indent=1) + "\n", encoding="utf-8")


def _benchmark(rows: Sequence[Row], problems: int | None) -> str:
    """The mean score, and over how many; nothing where no problem is scored."""
    scores = [row.score for row in rows if row.score is not None]
    denominator = max(problems or 0, len(scores))
    if not scores:
        return ""
    return f"Mean score {sum(scores) / denominator:.4f} over {denominator} problems, {len(scores)} of them answered"


def _move(partial: Path, out: Path) -> None:
    old = None
    if out.exists():
        old = Path(mkdtemp(prefix=f".{out.name}.old.", dir=out.parent))
        out.rename(old / out.name)
    partial.rename(out)
    if old is not None:
        shutil.rmtree(old)
