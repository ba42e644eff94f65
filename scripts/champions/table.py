"""The record of a campaign as a table: every figure follows from the latencies that it holds."""

import math
from typing import Any

import tasks
from leaderboard.score import workload_score
from tasks.gpu import load_gpu
from tasks.speed_of_light import speed_of_light

_HEAD = (
    "| problem | champion | over T_b (geometric mean) | score | T_b by | candidates accepted |\n"
    "|---|---|---|---|---|---|"
)
_BASELINES = ("reference", "compile")


def table(record: dict[str, Any]) -> str:
    """Markdown, a row a problem; T_SOL is priced by physics for the card of the record."""
    rows = [_row(row) for row in record["rows"] if row["candidates"]]
    return "\n".join([_HEAD, *(text for text in rows if text)])


def _row(row: dict[str, Any]) -> str | None:
    accepted = [c for c in row["candidates"] if c["status"] == "accepted" and None not in c["latency_ms"]]
    peers = [c for c in accepted if c["agent"] in _BASELINES]
    if not peers or not any(c["agent"] not in _BASELINES for c in row["candidates"]):
        return None  # the time was over before any of ours
    baseline = [min(times) for times in zip(*(c["latency_ms"] for c in peers), strict=True)]
    champion = min(accepted, key=lambda c: _mean(c["latency_ms"]))
    by = min(peers, key=lambda c: _mean(c["latency_ms"]))
    ratio = _mean(baseline) / _mean(champion["latency_ms"])
    score = _score(row, champion["latency_ms"], baseline)
    return (
        f"| {row['task']} | {champion['agent']}: {champion['strategy']} | {ratio:.2f} | {score:.2f} | {by['strategy']} "
        f"| {len(accepted)} of {len(row['candidates'])} |"
    )


def _score(row: dict[str, Any], latencies: list[float], baseline: list[float]) -> float:
    """Mean of the official score over the workloads, clipped at 1 where T_SOL by physics is beaten."""
    task = tasks.load(row["task"])
    chosen = tuple(w for uuid in row["workloads"] for w in task.workloads if w.uuid == uuid)
    bounds = speed_of_light(task.model_copy(update={"workloads": chosen}), load_gpu("H200"), "physical")
    scores = [
        min(1.0, workload_score(ms, bound.t_sol_ms, t_b))
        for ms, bound, t_b in zip(latencies, bounds, baseline, strict=True)
    ]
    return sum(scores) / len(scores)


def _mean(times: list[float]) -> float:
    return math.exp(sum(map(math.log, times)) / len(times))
