"""Files of measurements: appended to, gone on with, pooled, and refused."""

from pathlib import Path
from typing import Any

import pytest

from guard.campaign import Campaign, pool, read, write_pooled
from guard.comparison import Outcome
from guard.duel_record import Side
from guard.errors import GuardBroken
from guard.figures import publish
from guard.verdict import Environment
from tasks.errors import TaskError
from tests.guard.duels import few, header, records, written


def test_what_was_kept_is_read_again(tmp_path: Path) -> None:
    lines = records(0.03)
    contents = read(written(tmp_path / "m.jsonl", header(), lines))
    assert [shard.processes for shard in contents.shards] == [lines]
    assert contents.shards[0].header == header()
    assert contents.last is not None and contents.last.comparison is not None
    assert contents.last.comparison.overall.outcome is Outcome.SLOWER


def test_an_old_file_goes_on_under_its_own_header(tmp_path: Path) -> None:
    path, lines = tmp_path / "m.jsonl", records()
    with Campaign.open(path, header()) as campaign:
        campaign.keep(lines[0])
    with Campaign.open(path, header(shard="another draw", order_seed=2)) as campaign:
        assert campaign.header == header()
        assert campaign.done == (lines[0],)
        campaign.keep(lines[1])
    assert read(path).shards[0].processes == lines[:2]


def test_a_line_torn_off_by_a_crash_is_cut_away(tmp_path: Path) -> None:
    path, lines = tmp_path / "m.jsonl", records()
    with Campaign.open(path, header()) as campaign:
        campaign.keep(lines[0])
    whole = path.read_bytes()
    path.write_bytes(whole + b'{"process":{"arm"')
    with Campaign.open(path, header()) as campaign:
        assert campaign.done == (lines[0],)
    assert path.read_bytes() == whole


def test_a_header_torn_off_begins_anew(tmp_path: Path) -> None:
    path = tmp_path / "m.jsonl"
    path.write_bytes(b'{"baseline":')
    with Campaign.open(path, header()) as campaign:
        assert campaign.done == ()
    assert read(path).shards[0].header == header()


def test_two_processes_never_write_one_file(tmp_path: Path) -> None:
    with Campaign.open(tmp_path / "m.jsonl", header()), pytest.raises(TaskError, match="another process"):
        Campaign.open(tmp_path / "m.jsonl", header())


def test_a_line_that_does_not_fit_on_the_disk_is_not_half_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "m.jsonl"
    with Campaign.open(path, header()) as campaign:
        before = path.read_bytes()
        import os

        write = os.write
        monkeypatch.setattr("guard.campaign.os.write", lambda stream, line: write(stream, line[:100]))
        with pytest.raises(GuardBroken, match="disk is full"):
            campaign.keep(records()[0])
        monkeypatch.undo()
    assert path.read_bytes() == before


CARD = header().environment
OTHERS: dict[str, tuple[dict[str, Any], str]] = {
    "card": ({"environment": CARD.model_copy(update={"uuid": "GPU-2"})}, "the cards differ"),
    "driver": ({"environment": CARD.model_copy(update={"driver": "2"})}, "the drivers differ"),
    "device": ({"environment": Environment(device="cpu", kind="cpu")}, "the devices differ"),
    "torch": ({"environment": CARD.model_copy(update={"libraries": {"torch": "3"}})}, "the versions of torch"),
    "clocks": ({"clock_policy": "locked 1500/3996"}, "the clock policies differ"),
    "timer": ({"timer": "cuda-events"}, "the timers differ"),
    "protocol": ({"terms": few().model_copy(update={"name": "gate"})}, "the protocols differ"),
    "terms": ({"terms": few(measured_calls=6)}, "the terms differ"),
    "task": ({"task_digest": "u" * 64}, "the tasks differ"),
    "candidate": ({"candidate": Side(name="new", digest="c" * 64)}, "the candidates differ"),
    "baseline": ({"baseline": Side(name="old", digest="c" * 64)}, "the baselines differ"),
}  # fmt: skip


@pytest.mark.parametrize("what", OTHERS)
def test_times_taken_otherwise_are_refused_in_one_sentence(tmp_path: Path, what: str) -> None:
    other, said = OTHERS[what]
    one = written(tmp_path / "one.jsonl", header(), records())
    two = written(tmp_path / "two.jsonl", header(shard="s2", **other), records(seed=1))
    with pytest.raises(TaskError, match=said) as refused:
        pool([one, two])
    assert "two.jsonl" in str(refused.value) and "\n" not in str(refused.value)
    with pytest.raises(TaskError, match=said):
        Campaign.open(one, header(shard="s3", **other))


def test_shards_pool_into_more_processes(tmp_path: Path) -> None:
    """Three processes an arm decide nothing; with three of another day there are six."""
    one = written(tmp_path / "one.jsonl", header(), records(0.05, processes=3))
    two = written(tmp_path / "two.jsonl", header(shard="s2"), records(0.05, processes=3, seed=1))
    assert publish(pool([one])).comparison is None
    pooled = publish(pool([one, two]))
    assert pooled.comparison is not None and pooled.processes == 12
    assert pooled.comparison.overall.outcome is Outcome.SLOWER


def test_one_shard_is_never_counted_twice(tmp_path: Path) -> None:
    one = written(tmp_path / "one.jsonl", header(), records())
    two = written(tmp_path / "two.jsonl", header(), records())
    with pytest.raises(TaskError, match="there already"):
        pool([one, two])


def test_a_pooled_file_says_what_it_was_pooled_from_and_is_not_gone_on_with(tmp_path: Path) -> None:
    one = written(tmp_path / "one.jsonl", header(), records())
    two = written(tmp_path / "two.jsonl", header(shard="s2"), records(seed=1))
    shards = pool([one, two])
    write_pooled(tmp_path / "both.jsonl", shards, publish(shards))
    contents = read(tmp_path / "both.jsonl")
    assert contents.shards == shards
    assert contents.published[0][0] == shards
    with pytest.raises(TaskError, match="several shards"):
        Campaign.open(tmp_path / "both.jsonl", header())
    with pytest.raises(FileExistsError):
        write_pooled(tmp_path / "both.jsonl", shards, publish(shards))


def test_half_a_pair_waits_for_its_other_half(tmp_path: Path) -> None:
    """Seven lines are three pairs and one process more, which decides nothing yet."""
    lines = records()[:7]
    published = read(written(tmp_path / "m.jsonl", header(), lines)).last
    assert published is not None and published.processes == 7
    assert len(published.figures) == 2 * 3 * 2


@pytest.mark.parametrize("content", ["", "not json\n", '{"process":{}}\n', "{}\n"])
def test_another_file_is_refused_with_its_line(tmp_path: Path, content: str) -> None:
    (tmp_path / "m.jsonl").write_text(content)
    with pytest.raises(TaskError, match=r"m\.jsonl"):
        read(tmp_path / "m.jsonl")
