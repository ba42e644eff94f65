"""The page as files: every link leads somewhere, the figures are the store's own, nothing asks the network."""

import hashlib
import json
import re
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote

import pytest
from click.testing import CliRunner

from leaderboard.board.script_file import read_script
from leaderboard.score import workload_score
from pipeline.cli import main
from tests.leaderboard.board.conftest import EACH, TASKS, build_board
from tests.leaderboard.board.synthetic import T_B_MS, T_SOL_MS


class Page(HTMLParser):
    """Links, identifiers, and whether every element that was opened is closed."""

    VOID = {"meta", "link", "input", "br", "path", "rect", "img"}

    def __init__(self, text: str) -> None:
        super().__init__()
        self.links: list[str] = []
        self.ids: list[str] = []
        self.open: list[str] = []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        found = dict(attrs)
        self.links += [str(found[name]) for name in ("href", "src") if found.get(name)]
        self.ids += [str(found["id"])] if found.get("id") else []
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """A path or a rectangle, closed where it is opened."""

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


def pages(site: Path) -> dict[Path, Page]:
    return {path: Page(path.read_text()) for path in site.rglob("*.html")}


def test_every_link_resolves_and_every_page_is_well_formed(site: Path) -> None:
    found = pages(site)
    assert len(found) >= len(TASKS) + 2
    for path, page in found.items():
        assert page.open == [] and len(page.ids) == len(set(page.ids)), path
        for link in page.links:
            if link.startswith("data:"):
                continue
            assert "://" not in link and not link.startswith("/"), f"{path}: {link}"
            file, _, fragment = link.partition("#")
            target = (path.parent / unquote(file)).resolve() if file else path
            assert target.is_file(), f"{path}: {link}"
            if fragment:
                assert fragment in found[target].ids, f"{path}: {link}"


def test_no_script_or_style_of_ours_names_another_host(site: Path) -> None:
    ours = [p for p in (*site.glob("assets/*"), *site.glob("data/*")) if p.name != "plotly.min.js"]
    assert ours
    for path in ours:
        assert not re.search(r"https?://|fetch\(|XMLHttpRequest|import\(", path.read_text()), path


def test_the_figures_are_those_of_the_submissions(site: Path, material: Path) -> None:
    content = read_script((site / "data" / "L1-001_problem.js").read_text())
    assert len(content["entries"]) == EACH
    scores = [entry["score"] for entry in content["entries"]]
    assert scores == sorted(scores, reverse=True)
    for entry in content["entries"]:
        for number, workload in enumerate(entry["workloads"]):
            by_hand = workload_score(workload["latency_ms"], T_SOL_MS * (number + 1), T_B_MS * (number + 1))
            assert workload["score"] == pytest.approx(by_hand, abs=1e-4)
            assert workload["low_ms"] <= workload["latency_ms"] <= workload["high_ms"]
            assert len(workload["boxes"]) == 10
            assert all(list(box) == sorted(box) for box in workload["boxes"])
        assert entry["low"] < entry["score"] < entry["high"]


def test_sources_are_kept_once_and_marked_to_the_last_character(site: Path) -> None:
    content = read_script((site / "data" / "L1-001_problem.js").read_text())
    named = {digest for entry in content["entries"] for _, digest in entry["sources"]}
    assert named == set(content["sources"])
    for digest, (text, runs) in content["sources"].items():
        assert hashlib.sha256(text.encode()).hexdigest() == digest
        assert sum(int(n) for n in re.findall(r"\d+", runs)) == len(text)


def test_the_histories_of_both_runs_are_there(site: Path) -> None:
    content = read_script((site / "data" / "L1-001_problem.js").read_text())
    assert [history["run"] for history in content["histories"]] == ["first", "second"]
    tried = content["histories"][0]["tried"]
    assert [t["status"] for t in tried].count("rejected") == 1 and tried[0]["strategy"] == "idea 0"


def test_a_driver_series_is_shown_with_what_it_says(site: Path) -> None:
    text = (site / "drivers.html").read_text()
    assert "driver 590.2: 3 sessions against 8 before: SLOWER" in text
    assert "580.1" in text


def test_what_was_tampered_with_is_named_and_not_shown(material: Path, tmp_path: Path) -> None:
    said = build_board(material, tmp_path / "page")
    assert said["entries"] == len(TASKS) * EACH - 1
    not_shown = said["not_shown"]
    assert isinstance(not_shown, list) and len(not_shown) == 1
    assert "002_problem" in not_shown[0] and "was changed" in not_shown[0]
    assert "was changed" in (tmp_path / "page" / "index.html").read_text()


def test_the_mean_is_over_all_problems(site: Path) -> None:
    rows = json.loads((site / "board.json").read_text())["tasks"]
    scores = [row["score"] for row in rows if row["score"] is not None]
    text = (site / "index.html").read_text()
    assert f"Mean score {sum(scores) / 235:.4f} over 235 problems, {len(scores)} of them answered" in text


def test_a_page_is_replaced_and_nothing_else_is(material: Path, tmp_path: Path) -> None:
    build_board(material, tmp_path / "page")
    (tmp_path / "page" / "old").write_text("x")
    build_board(material, tmp_path / "page")
    assert not (tmp_path / "page" / "old").exists()
    mine = tmp_path / "mine"
    mine.mkdir()
    (mine / "thesis.txt").write_text("x")
    result = CliRunner().invoke(main, ["board", "--out", str(mine)])
    assert result.exit_code == 2 and "is no page of ours" in result.output
    assert (mine / "thesis.txt").read_text() == "x"
    assert sorted(p.name for p in tmp_path.iterdir()) == ["mine", "page"]
