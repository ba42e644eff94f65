"""`kernelarc ablate`: on a known law warm start wins, on shuffled times it does not, and contrasts do not cry wolf."""

import json
from pathlib import Path

import numpy as np
import pytest
import yaml
from click.testing import CliRunner, Result

from agents.warm_start import Record
from pipeline.ablation.contrasts import adjusted, p_of, ratio_of
from pipeline.ablation.ground import grounds, nearest_ground
from pipeline.ablation.replaying import evaluations_to
from pipeline.ablation.strategies import STRATEGIES
from pipeline.cli import main
from tests.agents.synthetic_landscape import records


@pytest.fixture
def one_forest(monkeypatch: pytest.MonkeyPatch) -> None:
    """A shape, for all seeds: growing them is what takes time."""
    pytest.importorskip("sklearn")
    monkeypatch.setattr("pipeline.ablation.strategies._FORESTS", 1)
    monkeypatch.setattr("agents.warm_start.surrogate._TREES", 25)


def asked(tmp_path: Path, known: tuple[Record, ...], *more: str, **changed: object) -> Result:
    """The command on a landscape of these records."""
    lines = [
        {"header": {"family": "gemm"}},
        *(r.model_dump(include={"axes", "knobs", "ms", "failure"}) for r in known),
    ]
    (tmp_path / "l.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    plan = {
        "question": "Is it so?", "landscapes": ["l.jsonl"], "strategies": ["random", "copied", "warm"], "seeds": 2,
        "evaluations": 60, "alpha": 0.05,
        "contrasts": [
            {"better": "warm", "worse": "random", "at_most": 0.3, "unit": "seed"}, {"better": "warm", "worse": "copied"}
        ],
        **changed,
    }  # fmt: skip
    file = tmp_path / "plan.yaml"
    file.write_text(yaml.safe_dump(plan))
    return CliRunner().invoke(main, ["ablate", str(file), *more])


def test_warm_start_wins_on_a_known_law_and_its_result_is_shown_again(
    tmp_path: Path, one_forest: None
) -> None:
    kept = str(tmp_path / "kept.json")
    found = asked(tmp_path, records(), "--out", kept)
    assert found.exit_code == 0, found.output
    content = json.loads(Path(kept).read_text())
    against_random, against_copies = content["compared"]
    assert against_random["holds"] and against_random["ratio"] < 0.2
    assert against_copies["ratio"] < 1.0 and against_random["p"] < 0.05
    again = asked(tmp_path, records(), "--recorded", kept)
    assert again.exit_code == 0 and again.stdout == found.stdout and "| gemm K=2048" in found.stdout


def test_shuffled_times_teach_nothing(tmp_path: Path, one_forest: None) -> None:
    found = asked(tmp_path, records(shuffled=4), "--json")
    compared = json.loads(found.stdout)["compared"]
    assert not any(each["holds"] for each in compared) and compared[0]["ratio"] > 0.5


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"strategies": ["random", "magic"], "contrasts": []}, "magic"),
        ({"contrasts": [{"better": "tpe", "worse": "random"}]}, "tpe"),
        ({"contrasts": [{"better": "warm", "worse": "random"}] * 4}, "contrasts"),
        ({"families": ["swiglu"]}, "no recorded shape"),
        ({"shares": [0.9]}, "share"),
        ({"colour": "red"}, "colour"),
    ],
)
def test_a_plan_that_cannot_be_run_is_one_sentence(
    tmp_path: Path, changed: dict[str, object], said: str
) -> None:
    pytest.importorskip("sklearn")
    found = asked(tmp_path, records()[:30], **changed)
    assert found.exit_code == 2 and said in found.output and found.output.count("\n") == 1


@pytest.mark.parametrize("name", sorted(STRATEGIES))
def test_every_strategy_asks_each_setting_at_most_once_and_the_same_for_a_seed(name: str) -> None:
    some = [r for r in records() if r.knobs["block_k"] == 64 and r.knobs["warps"] == 8]
    first, *others = grounds(some)
    lists = []
    for _ in range(2):
        searching = STRATEGIES[name](first, others, 3)
        asked = []
        for _ in range(20):
            knobs = searching.ask()
            assert knobs is not None
            asked.append(tuple(sorted(knobs.items())))
            ms = first.record(knobs).ms
            if len(asked) % 5 == 0:
                searching.tell_rejected(knobs)
            else:
                searching.tell(knobs, ms)
        lists.append(asked)
    assert lists[0] == lists[1] and len(set(lists[0])) == 20


def test_what_a_build_refuses_costs_no_evaluation_and_what_fails_on_the_device_does() -> None:
    def needed(failure: str) -> int | None:
        some = [
            r.model_copy(update={"ms": None, "failure": failure}) if r.knobs["stages"] != 4 else r
            for r in records()
        ]
        (ground, *others) = grounds(some)
        (found,) = evaluations_to(ground, others, STRATEGIES["random"], 1, 192, [1.0])
        return found

    free, dear = needed("does not compile"), needed("wrong")
    assert free is not None and dear is not None and 2 * free < dear


def test_the_nearest_shape_is_the_one_of_least_ratio_and_files_of_one_shape_are_one_ground() -> None:
    some = grounds((*records(), *records()))
    assert len(some) == 6 and {len(g.records) for g in some} == {192}
    near = nearest_ground(some[0], some)
    assert near is not None and near.axes == {"M": 1280, "N": 2048, "K": 2048}
    older = Record(family="gemm", axes={"M": 1}, knobs={"a": 2}, ms=1.0)
    newer = Record(family="gemm", axes={"M": 1}, knobs={"a": 2, "wide": True}, ms=1.0)
    also = Record(family="gemm", axes={"M": 1}, knobs={"a": 2, "wide": False}, ms=3.0)
    (ground,) = grounds([older, newer, also], fewest=2)
    assert [r.ms for r in ground.records] == [1.0, 1.0] and ground.near(0.95) == 2


def test_contrasts_find_what_is_there_and_seldom_what_is_not() -> None:
    random = np.random.default_rng(5)
    p_values = [p_of(*random.lognormal(2, 0.5, (2, 10, 8)), "shape") for _ in range(60)]
    assert sum(p < 0.1 for p in p_values) <= 14 and sum(p > 0.5 for p in p_values) >= 15
    worse = random.lognormal(2, 0.5, (10, 8))
    assert p_of(worse * 0.5, worse, "shape") < 0.002 and p_of(worse * 2, worse, "seed") > 0.99
    ratio, low, high = ratio_of(worse * 0.5, worse)
    assert (round(ratio, 6), round(low, 6), round(high, 6)) == (0.5, 0.5, 0.5)
    assert adjusted([0.01, 0.02, 0.5]) == pytest.approx([0.03, 0.04, 0.5]) and adjusted([]) == []
