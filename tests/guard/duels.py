"""Files of measurements of processes that never ran."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from guard.campaign import Campaign
from guard.comparison import Rule
from guard.duel_record import Conditions, Header, ProcessRecord, Shard, Side
from guard.figures import publish
from guard.statistics.order import interleaved_order
from guard.terms import Terms, terms_for
from guard.verdict import Environment, Measurement

WORKLOADS = ("w0", "w1")


def few(looks: tuple[int, ...] = (5,), shares: tuple[float, ...] = (1.0,), **process: Any) -> Terms:
    """Terms that are quickly served: one look at five processes an arm, few calls."""
    terms = terms_for("search", "cpu")
    calls = {"official_rounds": 1, "measured_calls": 5, "build_limit_s": 20.0, **process}
    return terms.model_copy(
        update={
            "rule": Rule(looks=looks, shares=shares),
            "processes": looks[-1],
            "process": terms.process.model_copy(update=calls),
        }
    )


def header(shard: str = "s1", **other: Any) -> Header:
    given = {
        "shard": shard, "task": "made-up", "task_digest": "t" * 64, "baseline": Side(name="old", digest="a" * 64),
        "candidate": Side(name="new", digest="b" * 64), "terms": few(), "timer": "cupti", "clock_policy": "unlocked",
        "environment": Environment(device="card", kind="cuda", uuid="GPU-1", driver="1", libraries={"torch": "2"}),
        "order_seed": 1, "order": interleaved_order(5, 1),
    }  # fmt: skip
    return Header(**{**given, **other})


def records(
    slowdown: float = 0.0, processes: int = 5, seed: int = 0, **other: Any
) -> tuple[ProcessRecord, ...]:
    """All processes of both arms in order; the candidate is slower by `slowdown`."""
    rng = np.random.default_rng(seed)
    order = interleaved_order(processes, 1)
    return tuple(
        ProcessRecord(
            arm=arm, process=order[:place].count(arm), place=place, pad_bytes=4096, values_seed=1, began="", seconds=1.0,
            isolation="none", conditions=other.get("conditions", Conditions()),
            measurements=tuple(_measured(w, place, (arm == "B" and slowdown) or 0.0, rng) for w in WORKLOADS),
        )
        for place, arm in enumerate(order)
    )  # fmt: skip


def _measured(workload: str, process: int, slowdown: float, rng: np.random.Generator) -> Measurement:
    centre = (1 + slowdown) * np.exp(0.003 * rng.normal())
    times = tuple((centre * (1 + 0.001 * rng.normal(size=50))).tolist())
    return Measurement(workload=workload, process=process, timer="cupti", kind="official", times_ms=times)


def written(path: Path, head: Header, lines: Sequence[ProcessRecord]) -> Path:
    """A whole file, with what is published of it."""
    with Campaign.open(path, head) as campaign:
        for line in lines:
            campaign.keep(line)
        campaign.keep(publish([Shard(header=campaign.header, processes=tuple(lines))]))
    return path


def edited(path: Path, change: Callable[[str], str]) -> Path:
    path.write_text(change(path.read_text()))
    return path
