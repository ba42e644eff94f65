"""Warm start: on a known law it beats chance and copying on shapes it never saw; where nothing is known it says nothing."""

import json
from functools import cache
from pathlib import Path

import pytest

from agents.templates.base import Knobs, KnobSpace
from agents.warm_start import Record, predicted_starts, read_records, surrogate
from agents.warm_start.features import features, suits
from tasks.errors import TaskError
from tests.agents.synthetic_landscape import CHOICES, SHAPES, ms_of, records

pytest.importorskip("sklearn")

SPACE = KnobSpace(choices=dict(CHOICES))
COUNT = 5


@pytest.fixture(autouse=True)
def _fewer_trees(monkeypatch: pytest.MonkeyPatch) -> None:
    """Enough for this law."""
    monkeypatch.setattr(surrogate, "_TREES", 25)


def behind(axes: dict[str, int], settings: tuple[dict[str, int], ...]) -> float:
    """The best of some settings, as a multiple of the best there is."""
    best = min(ms_of(axes, dict(knobs)) for knobs in SPACE.settings())  # type: ignore[arg-type]
    return min(ms_of(axes, knobs) for knobs in settings) / best


@cache
def predicted(place: int, shuffled: int | None = None, seed: int = 0) -> tuple[dict[str, int], ...]:
    """For one of the shapes, from the records of all others."""
    some = [record for record in records(shuffled) if record.axes != SHAPES[place]]
    return predicted_starts(some, "gemm", [SHAPES[place]], SPACE, COUNT, seed)  # type: ignore[return-value]


def by_chance(axes: dict[str, int]) -> float:
    """The best of five of all settings, on average."""
    times = sorted(ms_of(axes, dict(knobs)) for knobs in SPACE.settings())  # type: ignore[arg-type]
    odds = [
        (1 - place / len(times)) ** COUNT - (1 - (place + 1) / len(times)) ** COUNT
        for place in range(len(times))
    ]
    return sum(o * t for o, t in zip(odds, times, strict=True)) / times[0]


def test_first_settings_on_unseen_shapes_are_far_better_than_chance_and_shuffled_times_teach_nothing() -> (
    None
):
    taught = [behind(axes, predicted(place)) for place, axes in enumerate(SHAPES)]
    shuffled = [behind(axes, predicted(place, shuffled=1)) for place, axes in enumerate(SHAPES)]
    chance = [by_chance(axes) for axes in SHAPES]
    assert sorted(taught)[len(taught) // 2] < 1.03
    assert sum(taught) - len(taught) < 0.3 * (sum(chance) - len(chance))
    assert sum(shuffled) - len(shuffled) > 0.7 * (sum(chance) - len(chance))


def test_the_first_setting_beats_the_best_of_the_nearest_shape() -> None:
    def nearest(axes: dict[str, int]) -> dict[str, int]:
        others = [other for other in SHAPES if other != axes]
        near = min(others, key=lambda o: abs(o["M"] / axes["M"] - 1) + abs(o["N"] / axes["N"] - 1))
        return min((dict(k) for k in SPACE.settings()), key=lambda knobs: ms_of(near, knobs))  # type: ignore[arg-type,return-value]

    first = [behind(axes, predicted(place)[:1]) for place, axes in enumerate(SHAPES)]
    copied = [behind(axes, (nearest(axes),)) for axes in SHAPES]
    assert sum(first) < sum(copied)


def test_a_seed_and_the_records_decide_the_order() -> None:
    assert predicted(0) == predicted.__wrapped__(0)
    assert predicted(0) != predicted(0, shuffled=1)


def test_nothing_is_said_where_nothing_is_known(monkeypatch: pytest.MonkeyPatch) -> None:
    known = records()
    assert predicted_starts(known, "swiglu", [SHAPES[0]], SPACE, COUNT, 0) == ()
    assert predicted_starts((), "gemm", [SHAPES[0]], SPACE, COUNT, 0) == ()
    assert predicted_starts(known[:7], "gemm", [SHAPES[0]], SPACE, COUNT, 0) == ()
    monkeypatch.setattr("agents.warm_start.starts.is_installed", lambda: False)
    assert predicted_starts(known, "gemm", [SHAPES[0]], SPACE, COUNT, 0) == ()


def test_what_never_worked_is_put_last() -> None:
    known = tuple(
        r.model_copy(update={"ms": None, "failure": "too much shared memory"})
        if r.knobs["stages"] == 5
        else r
        for r in records()
    )
    start = predicted_starts(known, "gemm", [SHAPES[3]], SPACE, len(known), 0)
    assert all(knobs["stages"] != 5 for knobs in start[:100])


def test_settings_for_other_classes_of_shapes_stand_apart_and_in_turns() -> None:
    few, many = {"M": 8, "N": 4096, "K": 2048}, {"M": 4096, "N": 4096, "K": 2048}
    space = KnobSpace(choices={"rows": ("many", "few"), **CHOICES})
    known = [
        Record(family="gemm", axes=r.axes, knobs={"rows": "many", **r.knobs}, ms=r.ms) for r in records()
    ]
    start = predicted_starts(known, "gemm", [few, many], space, 6, 0)
    assert [knobs["rows"] for knobs in start] == ["few", "many"] * 3
    assert suits("gemm", few, {"rows": "few"}) and not suits("gemm", many, {"rows": "few"})


def test_texts_of_numbers_are_numbers_and_unknown_sizes_leave_tiles_out() -> None:
    knobs: Knobs = {"tile": "64x32x4", "backend": "FLASH", "wide": True}
    found = features("decoder", {"tokens": 7}, knobs)
    assert found["knob tile 1"] > found["knob tile 2"] and found["knob backend is FLASH"] == 1.0
    assert found["axis tokens"] == 3.0 and "programs" not in found
    assert "programs" not in features("gemm", {"rows": 4}, {"block_m": 64})
    assert features("gemm", SHAPES[0], {"block_m": 64, "block_n": 64, "block_k": 64})["programs"] > 0


def test_landscapes_are_read_and_a_cut_line_is_passed_over(tmp_path: Path) -> None:
    file = tmp_path / "a.jsonl"
    lines = [
        {"header": {"family": "gemm", "task": "t"}},
        {"knobs": {"a": True}, "axes": {"M": 1}, "ms": 2.0, "uuid": "u"},
    ]
    file.write_text("".join(json.dumps(line) + "\n" for line in lines) + '{"knobs": {"a"')
    (record,) = read_records([tmp_path])
    assert (record.family, record.task, record.ms, record.knobs) == ("gemm", "t", 2.0, {"a": True})
    assert record.knobs["a"] is True
    file.write_text(json.dumps(lines[0]) + "\n{}\n")
    with pytest.raises(TaskError, match="line 2"):
        read_records([file])
    with pytest.raises(TaskError, match="cannot be read"):
        read_records([tmp_path / "none.jsonl"])


def test_shipped_landscapes_can_be_learned_from() -> None:
    found = read_records([Path(__file__).parents[2] / "docs" / "results" / "landscapes"])
    assert {"gemm", "paged_decode", "paged_prefill"} <= {record.family for record in found}
    assert len(surrogate.by_shape(found)) >= 20
