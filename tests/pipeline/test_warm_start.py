"""A search's first settings come from records, are kept in its header, and are the same for whoever plays it again."""

import json
from pathlib import Path

import pytest

from agents import create
from agents.templates import FAMILIES
from agents.testing import accepted
from pipeline.journal import Journal
from pipeline.ledger.amounts import NOTHING
from pipeline.progress import Silent
from pipeline.proposing.apart import Apart
from pipeline.run_folder import Header, Outcome, Run
from pipeline.settings import Settings
from pipeline.warm_start import records_of, starts_for
from tasks.loading import load

LANDSCAPES = Path(__file__).parents[2] / "docs" / "results" / "landscapes"


def digests(starts: object, count: int = 4) -> list[str]:
    agent = create("template", load("fi_paged_decode"), 0, starts=starts)  # type: ignore[arg-type]
    return [candidate.digest for _ in range(count) if (candidate := agent.ask()) is not None]


def header(starts: object) -> Header:
    return Header.model_validate(
        {
            "command": "search", "task": "fi_paged_decode", "task_digest": "t", "device": "cpu",
            "agents": ["template"], "budget": 4, "settings": Settings(), "starts": starts,
        }
    )  # fmt: skip


def test_predicted_settings_come_first_and_survive_the_journal(tmp_path: Path) -> None:
    pytest.importorskip("sklearn")
    task = load("fi_paged_decode")
    starts = starts_for(Settings(warm_start=(LANDSCAPES,)), task, Silent())
    assert list(starts) == ["paged_decode"] and len(starts["paged_decode"]) == 16
    with Run.create(tmp_path, header(starts)) as run:
        kept = run.header.starts
    with Run.open(run.folder) as again:
        assert again.header.starts == kept == starts
        assert digests(again.header.starts) == digests(starts) != digests(None)
    match = FAMILIES["paged_decode"].matches(task)
    first = FAMILIES["paged_decode"].render(match, starts["paged_decode"][0])
    agent = create("template", task, 0, starts=starts)
    asked = agent.ask()
    assert asked is not None and asked.solution.sources[0].content == first.source


def test_a_proposer_in_a_process_of_its_own_begins_with_the_same_settings(tmp_path: Path) -> None:
    starts = {"paged_decode": ({"block_n": 32, "warps": 8, "programs": 6, "stages": 1},)}
    told = Apart("template", load("fi_paged_decode"), tmp_path, starts=starts)._created
    again = json.loads(told)["starts"]
    assert digests(again) == digests(starts) != digests(None)


def test_without_records_of_the_family_a_search_begins_as_before(tmp_path: Path) -> None:
    task = load("l1_rmsnorm")
    assert starts_for(Settings(), task, Silent()) == {}
    assert starts_for(Settings(warm_start=(LANDSCAPES / "swiglu.jsonl",)), task, Silent()) == {}
    assert digests({}) == digests(None)
    old = header({}).model_dump(mode="json", exclude={"starts"})
    assert Header.model_validate(old).starts == {}


def test_verdicts_of_a_run_are_records(tmp_path: Path) -> None:
    task = load("fi_paged_decode")
    agent = create("template", task, 0)
    with Run.create(tmp_path, header({})) as run:
        for ms in (1.0, 2.0):
            candidate = agent.ask()
            assert candidate is not None
            verdict = accepted(task, candidate, ms)
            run.keep_outcome(Outcome(candidate=candidate, verdict=verdict, cost=NOTHING))
    found = records_of([run.folder])
    assert {record.ms for record in found} == {1.0, 2.0} and {r.family for r in found} == {"paged_decode"}
    assert found[0].knobs.keys() == {"block_n", "warps", "programs", "stages"}
    assert found[0].axes.keys() == {"batch_size", "earlier_tokens", "page_size"}
    assert isinstance(run.journal, Journal)
