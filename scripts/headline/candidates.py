"""The two that meet: a peer from its source, and of a family the best that a landscape knows or experience says."""

from collections import defaultdict
from math import exp, log
from pathlib import Path
from typing import Any

from agents.proposal import Proposal
from agents.templates import EVERY_FAMILY
from agents.templates.base import Knob, Knobs, KnobSpace
from scripts.headline.rows import Row
from scripts.landscape.record import read_landscape
from tasks.candidate import Candidate
from tasks.errors import TaskError
from tasks.solution import Hardware
from tasks.task import Task


def peer_of(row: Row, task: Task) -> Candidate:
    return Proposal("torch, as a user would write it", row.peer).candidate(task, "peer", Hardware.LOCAL)


def ours(row: Row, task: Task, landscapes: tuple[Path, ...]) -> Candidate:
    """Raises `TaskError` when the family does not know the task."""
    family: Any = EVERY_FAMILY[row.family]
    match = family.matches(task)
    if match is None:
        raise TaskError(
            f"is not of the family {row.family}", file=task.name, field="family", mend="mend the row"
        )
    times = _times(row, task, landscapes, _first_values(family.knobs(match)))
    if not times:
        proposal = family.render(match, family.knobs(match).start[0])
    elif hasattr(family, "render_table"):
        proposal = family.render_table(match, _best_of_each(family, task, times))
    else:
        proposal = family.render(match, _best_of_all(times))
    return proposal.candidate(task, row.family, Hardware.LOCAL)  # type: ignore[no-any-return]


Times = dict[str, list[tuple[float, Knobs]]]
"""By the workload's uuid: milliseconds and the setting they were taken with."""


def _times(row: Row, task: Task, landscapes: tuple[Path, ...], first: Knobs) -> Times:
    """A knob that an older version did not record has the value that stands first; one unknown today passes it over."""
    known: Times = defaultdict(list)
    for path in landscapes:
        header, lines = read_landscape(path)
        if header["family"] != row.family or header["task"] != task.name:
            continue
        for line in lines:
            knobs = {**first, **line["knobs"]}
            if "ms" in line and knobs.keys() == first.keys():
                known[line["uuid"]].append((line["ms"], knobs))
    return {w.uuid: known[w.uuid] for w in task.workloads if w.uuid in known}


def _first_values(space: KnobSpace) -> dict[str, Knob]:
    return {name: values[0] for name, values in space.choices.items()}


def _best_of_each(family: Any, task: Task, times: Times) -> dict[Any, Knobs]:
    """By what the family calls a workload's shape: its fastest setting."""
    best: dict[Any, Knobs] = {}
    for workload in task.workloads:
        if workload.uuid in times:
            alone = family.matches(task.model_copy(update={"workloads": (workload,)}))
            best[alone.shapes[0]] = min(times[workload.uuid], key=lambda each: each[0])[1]
    return best


def _best_of_all(times: Times) -> Knobs:
    """The setting with the smallest geometric mean among those timed on the most workloads."""
    by_setting: dict[str, list[float]] = defaultdict(list)
    knobs: dict[str, Knobs] = {}
    for each in times.values():
        for ms, setting in each:
            key = repr(sorted(setting.items()))
            knobs[key] = setting
            by_setting[key].append(log(ms))
    most = max(map(len, by_setting.values()))
    means = {key: exp(sum(logs) / len(logs)) for key, logs in by_setting.items() if len(logs) == most}
    return knobs[min(means, key=lambda key: means[key])]
