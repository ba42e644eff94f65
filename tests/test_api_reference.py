"""The API reference: every module is in it, every link leads somewhere, and it says what the docstrings say."""

import re
from pathlib import Path

import pytest
from click.testing import CliRunner

from scripts.api_reference.command import main
from scripts.api_reference.links import Links
from scripts.api_reference.reading import PACKAGES, ROOT, read_package

PROBLEMS = {"L1", "L2", "Quantization", "FlashInfer"}


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """By file name."""
    out = tmp_path_factory.mktemp("api")
    done = CliRunner().invoke(main, ["--out", str(out)])
    assert done.exit_code == 0, done.output
    return {path.name: path.read_text() for path in out.iterdir()}


def test_there_is_a_page_a_package_and_one_that_lists_them(pages: dict[str, str]) -> None:
    assert set(pages) == {"index.html", *(f"{name}.html" for name in PACKAGES)}


def test_every_link_leads_to_an_anchor_there_is_and_none_stands_twice(pages: dict[str, str]) -> None:
    anchors = {name: re.findall(r' id="([^"]+)"', text) for name, text in pages.items()}
    assert all(len(found) == len(set(found)) for found in anchors.values())
    links = {link for text in pages.values() for link in re.findall(r'href="([^"]+)"', text)}
    assert len(links) > 500
    for link in links:
        page, _, anchor = link.partition("#")
        assert page in pages and (not anchor or anchor in anchors[page]), link


def test_every_module_of_ours_has_its_section(pages: dict[str, str]) -> None:
    missing = []
    for package in PACKAGES:
        for file in sorted((ROOT / package).rglob("*.py")):
            parts = file.relative_to(ROOT).with_suffix("").parts
            if PROBLEMS & set(parts) or any(part.startswith("_") for part in parts):
                continue
            if f' id="{".".join(parts)}"' not in pages[f"{package}.html"]:
                missing.append(".".join(parts))
    assert missing == []


def test_a_function_stands_with_its_signature_and_docstring_and_names_are_links(
    pages: dict[str, str],
) -> None:
    text = pages["leaderboard.html"]
    place = text.index('id="leaderboard.holds.holds"')
    shown = text[place : place + 3000]
    assert "holds(snapshot: Snapshot, verdict: Verdict, protocol: Protocol" in shown
    assert "what may differ because it is what is" in shown
    assert (
        '<a href="leaderboard.html#leaderboard.snapshot.sentinel_name"><code>sentinel_name</code></a>' in text
    )
    assert "_overall" not in text and "tasks.L1" not in pages["tasks.html"]


def test_a_short_name_is_a_link_only_where_it_means_one_thing() -> None:
    links = Links([read_package("leaderboard")])
    assert links.target("compare_pairs", "leaderboard.holds") == (
        "leaderboard.html#leaderboard.equivalence.compare_pairs"
    )
    assert links.target("Margins", "leaderboard.equivalence") == (
        "leaderboard.html#leaderboard.equivalence.Margins"
    )
    assert links.target("digest", "leaderboard.holds") is None
    assert links.target("no such name", "leaderboard.holds") is None


def test_what_is_no_html_in_a_docstring_stays_what_it_is(tmp_path: Path) -> None:
    (tmp_path / "odd").mkdir()
    (tmp_path / "odd" / "__init__.py").write_text('"""A <b> & `x < y`.\n\nMore.\n\n    kept  as it is\n"""\n')
    package = read_package("odd", tmp_path)
    assert Links([package]).prose(package.said, "odd") == (
        "<p>A &lt;b&gt; &amp; <code>x &lt; y</code>.</p>\n<p>More.</p>\n<pre>    kept  as it is</pre>"
    )
