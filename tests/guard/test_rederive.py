"""Published figures, derived again from raw times."""

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from guard.campaign import pool, write_pooled
from guard.comparison import Outcome
from guard.duel_record import Conditions, Shard
from guard.errors import GuardBroken
from guard.figures import publish, rounded
from guard.rederive import rederive
from guard.verdict import Reason, ReasonCode
from pipeline.commands.guard import guard
from tests.guard.duels import edited, few, header, records, written


def measured(tmp_path: Path) -> Path:
    return written(tmp_path / "m.jsonl", header(), records(0.03))


def test_every_figure_holds_bit_by_bit(tmp_path: Path) -> None:
    found = rederive(measured(tmp_path))
    assert found.statements == 1
    assert found.figures > 200
    assert found.unfounded == ()


def test_a_pooled_file_holds_too(tmp_path: Path) -> None:
    one = written(tmp_path / "one.jsonl", header(), records())
    two = written(tmp_path / "two.jsonl", header(shard="s2"), records(seed=1))
    shards = pool([one, two])
    write_pooled(tmp_path / "both.jsonl", shards, publish(shards))
    assert rederive(tmp_path / "both.jsonl").unfounded == ()


def test_one_raw_time_changed_in_its_last_digits_shows(tmp_path: Path) -> None:
    def change(text: str) -> str:
        lines = text.splitlines()
        content = json.loads(lines[1])
        times = content["process"]["measurements"][0]["times_ms"]
        middle = sorted(range(50), key=times.__getitem__)[25]
        times[middle] *= 1 + 1e-6
        return "\n".join([lines[0], json.dumps(content), *lines[2:]]) + "\n"

    unfounded = rederive(edited(measured(tmp_path), change)).unfounded
    assert any("official_ms" in u.field for u in unfounded)


@pytest.mark.parametrize(
    "figure", ["ratio", "p_slower", "official_ms", "low_ms", "baseline_ms", "alpha_spent"]
)
def test_a_figure_changed_in_its_tenth_digit_shows(tmp_path: Path, figure: str) -> None:
    def change(text: str) -> str:
        *before, last = text.splitlines()
        content = json.loads(last)
        place = _holder(content, figure)
        place[figure] *= 1 + 3e-9
        return "\n".join([*before, json.dumps(content)]) + "\n"

    unfounded = rederive(edited(measured(tmp_path), change)).unfounded
    assert len(unfounded) == 1 and figure in unfounded[0].field


def _holder(content: object, key: str) -> dict[str, float]:
    if isinstance(content, dict):
        if isinstance(content.get(key), float):
            return content
        content = list(content.values())
    found = [_holder(item, key) for item in content] if isinstance(content, list) else []
    return next((place for place in found if place), {})


def test_an_outcome_turned_round_shows(tmp_path: Path) -> None:
    path = edited(measured(tmp_path), lambda text: text.replace('"SLOWER"', '"FASTER"'))
    assert any(u.field.endswith("outcome") for u in rederive(path).unfounded)


def test_a_process_left_out_shows(tmp_path: Path) -> None:
    path = edited(measured(tmp_path), lambda t: "\n".join([*t.splitlines()[:3], *t.splitlines()[4:]]) + "\n")
    assert rederive(path).unfounded


def test_the_command_exits_with_1_when_a_figure_does_not_hold(tmp_path: Path) -> None:
    path = measured(tmp_path)
    good = CliRunner().invoke(guard, ["rederive", str(path), "--json"], standalone_mode=False)
    assert good.return_value == 0
    assert json.loads(good.output)["unfounded"] == []
    edited(path, lambda text: text.replace('"SLOWER"', '"FASTER"'))
    bad = CliRunner().invoke(guard, ["rederive", str(path)], standalone_mode=False)
    assert bad.return_value == 1
    assert "do not hold" in bad.output


def test_a_file_that_says_nothing_does_not_pass(tmp_path: Path) -> None:
    path = edited(measured(tmp_path), lambda text: "\n".join(text.splitlines()[:-1]) + "\n")
    assert CliRunner().invoke(guard, ["rederive", str(path)], standalone_mode=False).return_value == 1


def test_figures_have_ten_digits_so_that_another_processor_finds_the_same() -> None:
    published = publish([Shard(header=header(), processes=records(0.01))])
    assert rounded(published) == published
    latency = published.latencies[0].candidate_ms
    assert float(f"{latency:.10g}") == latency


def test_spoilt_processes_do_not_count_and_are_flagged() -> None:
    lines = records(0.03)
    spoilt = lines[0].model_copy(update={"spoilt": "company", "conditions": Conditions(other_processes=1)})
    published = publish([Shard(header=header(), processes=(spoilt, *lines))])
    assert published.comparison is not None
    assert published.comparison.discarded == 1
    assert {"DISCARDED", "CO_TENANT", "UNLOCKED_CLOCKS"} <= set(published.flags)
    assert len(published.figures) == 20


def test_discarding_more_than_a_tenth_is_refused_as_selection() -> None:
    lines = records(0.03)
    spoilt = [line.model_copy(update={"spoilt": "company"}) for line in lines[:3]]
    with pytest.raises(GuardBroken, match="tenth"):
        publish([Shard(header=header(), processes=(*spoilt, *lines))])


def test_clocks_that_wander_and_a_power_cap_are_flagged() -> None:
    calm, fast = Conditions(sm_mhz=1000), Conditions(sm_mhz=1020, throttle_reasons=("sw-power-cap",))
    lines = records(conditions=calm)
    steady = publish([Shard(header=header(), processes=lines)]).flags
    odd = (*lines[:-1], lines[-1].model_copy(update={"conditions": fast}))
    assert "CLOCKS_WANDER" not in steady and "POWER_CAPPED" not in steady
    assert {"CLOCKS_WANDER", "POWER_CAPPED"} <= set(publish([Shard(header=header(), processes=odd)]).flags)


def test_a_rejected_arm_never_passes() -> None:
    lines = records(-0.2)
    assert publish([Shard(header=header(), processes=lines)]).is_good
    failed = lines[-1].model_copy(
        update={"reason": Reason(code=ReasonCode.NUMERICAL, message="no"), "measurements": ()}
    )
    published = publish([Shard(header=header(), processes=(*lines[:-1], failed))])
    assert published.rejected and not published.is_good
    assert "numerical" in published.lines()[0]


def test_a_screen_only_ever_drops() -> None:
    screen = header(terms=few().model_copy(update={"name": "screen", "rule": None, "processes": 2}))
    for slowdown, good in ((0.2, False), (0.0, True), (-0.2, True)):
        published = publish([Shard(header=screen, processes=records(slowdown, processes=2))])
        assert published.comparison is None and published.screen is not None
        assert published.is_good is good
        assert "P 2 v 2" in published.lines()[0]


def test_inconclusive_is_never_a_pass() -> None:
    published = publish([Shard(header=header(), processes=records(0.0))])
    assert published.comparison is not None
    assert published.comparison.family in (Outcome.INCONCLUSIVE, Outcome.EQUIVALENT, Outcome.UNSTABLE)
    too_few = publish([Shard(header=header(), processes=records(-0.3, processes=4))])
    assert too_few.remark.startswith("INCONCLUSIVE") and not too_few.is_good
