"""How large a page may be and how long it may take: 235 problems with 20 submissions each."""

import json
import os
import resource
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.leaderboard.board.synthetic import task_names, write_submissions, write_tables

PROBLEMS, EACH = 235, 20
MOST_SECONDS, MOST_BYTES, FIRST_PAINT_MS = 30.0, 25e6, 1000.0

pytestmark = [pytest.mark.bench, pytest.mark.timeout(1200)]


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, float, dict[str, object]]:
    """The page, the seconds that the command took from its start to its end, and what it said."""
    root = tmp_path_factory.mktemp("benchmark")
    tasks = task_names(PROBLEMS)
    write_submissions(root / "submissions", tasks, EACH)
    sol, baseline = write_tables(root, tasks)
    command = [
        sys.executable, "-m", "pipeline", "board", "--json", "--out", str(root / "page"),
        "--submissions", str(root / "submissions"), "--t-sol", str(sol), "--t-b", str(baseline),
        "--runs", str(root / "none"), "--snapshots", str(root / "none"), "--sessions", str(root / "none"),
        "--store", f"sqlite:///{root}/none.sqlite", "--problems", str(PROBLEMS),
    ]  # fmt: skip
    began, before = time.perf_counter(), resource.getrusage(resource.RUSAGE_CHILDREN)
    said = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    seconds = time.perf_counter() - began
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    worked = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    size = json.loads(said)["bytes"] / 1e6
    print(  # noqa: T201
        f"\n{seconds:.1f} s on {len(os.sched_getaffinity(0))} cores at load {os.getloadavg()[0]:.1f}, "
        f"{worked:.1f} s of work, {size:.1f} MB"
    )
    return root / "page", seconds, json.loads(said)


def test_the_page_is_built_in_half_a_minute(built: tuple[Path, float, dict[str, object]]) -> None:
    _, seconds, said = built
    assert said["entries"] == PROBLEMS * EACH and said["not_shown"] == []
    assert seconds < MOST_SECONDS


def test_the_page_is_small_enough_to_be_sent(built: tuple[Path, float, dict[str, object]]) -> None:
    size = built[2]["bytes"]
    assert isinstance(size, int) and size < MOST_BYTES


@pytest.mark.parametrize("name", ["index.html", "tasks/L1-001_problem.html"])
def test_it_is_painted_within_a_second(built: tuple[Path, float, dict[str, object]], name: str) -> None:
    sync_api = pytest.importorskip(
        "playwright.sync_api", reason="playwright is not installed (extra browser)"
    )
    system = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    with sync_api.sync_playwright() as playwright:
        path = system or playwright.chromium.executable_path
        if not Path(path).exists():
            pytest.skip("no Chromium here: apt-get install chromium, or playwright install chromium")
        browser = playwright.chromium.launch(executable_path=path, args=["--no-sandbox"])
        page = browser.new_page()
        page.goto("about:blank")
        page.goto(f"{built[0].as_uri()}/{name}")
        page.wait_for_function("performance.getEntriesByName('first-contentful-paint').length > 0")
        painted = page.evaluate("performance.getEntriesByName('first-contentful-paint')[0].startTime")
        print(f"\n{name}: painted after {painted:.0f} ms")  # noqa: T201
        browser.close()
    assert painted < FIRST_PAINT_MS
