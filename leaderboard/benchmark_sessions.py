"""Sessions out of pytest-benchmark's files: what another machine wrote joins the driver series here."""

import statistics
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from pydantic import ValidationError

from guard.verdict import Environment
from leaderboard.public_board import moment_of, read_any_json
from leaderboard.sessions import Session
from tasks.errors import TaskError

_MS_PER_S = 1e3


class Read(NamedTuple):
    sessions: tuple[Session, ...]
    """One a snapshot that the file has times of."""
    strangers: tuple[str, ...]
    """Groups of benchmarks that are no snapshot asked for."""


def sessions_in(path: Path, snapshots: Mapping[str, str]) -> Read:
    """What a file says of `snapshots`, digests by name: a group is a snapshot's name, a parameter a workload.

    `TaskError` when it is no file of pytest-benchmark's, or says not when or where it was made.
    """
    content = read_any_json(path)
    try:
        benchmarks = list(content["benchmarks"])
        moment = moment_of(content["datetime"])
        environment = _environment(content["machine_info"])
        times = dict(_times(benchmarks))
    except (KeyError, TypeError, ValueError, AttributeError, ValidationError) as error:
        raise TaskError(
            f"is no file of pytest-benchmark's ({type(error).__name__}: {str(error).splitlines()[0]})",
            file=path, mend="write it with `kernelarc regress --benchmark-json`",
        ) from error  # fmt: skip
    if moment is None:
        raise TaskError("says not when it was made", file=path, field="datetime", mend="write it again")
    sessions = tuple(
        Session(
            snapshot=snapshots[name], taken_at=moment.isoformat(), environment=environment, medians_ms=medians
        )
        for name, medians in times.items()
        if name in snapshots
    )
    return Read(sessions, tuple(sorted(set(times) - set(snapshots))))


def _times(benchmarks: list[Any]) -> Iterator[tuple[str, dict[str, float]]]:
    """Milliseconds by workload, of each group: the median over the rounds, which are processes."""
    groups: dict[str, dict[str, float]] = {}
    for one in benchmarks:
        stats = one["stats"]
        rounds = stats.get("data") or [stats["median"]]
        group = groups.setdefault(str(one.get("group") or one["name"]), {})
        group[str(one.get("param") or one["name"])] = statistics.median(rounds) * _MS_PER_S
    yield from groups.items()


def _environment(info: Mapping[str, Any]) -> Environment:
    """As `benchmark_json.machine` wrote it; a file of somebody else's has a CPU and no driver."""
    node, driver = str(info.get("node") or ""), info.get("driver")
    brand = info.get("cpu", {}).get("brand_raw") if isinstance(info.get("cpu"), Mapping) else None
    return Environment(
        device=str(brand or info.get("processor") or info.get("machine") or "unknown"),
        kind="cuda" if driver else "cpu",
        uuid=node if node.startswith("GPU-") else None,
        driver=driver,
        libraries=info.get("libraries") or {},
        clocks=info.get("clocks") or {},
        throttle_reasons=tuple(info.get("throttle_reasons") or ()),
    )
