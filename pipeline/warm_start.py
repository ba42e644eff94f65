"""First settings of a search, predicted once when it begins from what was recorded elsewhere."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from pipeline.journal import read_events
from pipeline.progress import Progress
from pipeline.run_folder import JOURNAL, header_in, recorded_verdicts
from pipeline.settings import Settings
from tasks.errors import TaskError
from tasks.task import Task

if TYPE_CHECKING:
    from agents.templates import Family
    from agents.warm_start import Record, Starts
    from guard.verdict import Verdict

COUNT = 16
"""Settings a family; after these its tuner has enough to go by."""


def starts_for(settings: Settings, task: Task, progress: Progress) -> "Starts":
    """By family; empty without `--warm-start`, and where what it names knows nothing of the task's families.

    They are kept in the run's header: a run that goes on or is played again neither reads nor predicts.
    """
    if not settings.warm_start:
        return {}
    from agents.templates import FAMILIES
    from agents.warm_start import predicted_starts

    records = records_of(settings.warm_start)
    found = {}
    for family, match in ((f, f.matches(task)) for f in FAMILIES.values()):
        if match is not None:
            shapes = list({tuple(axes.items()): axes for axes in sizes_of(family, task).values()}.values())
            start = predicted_starts(records, family.name, shapes, family.knobs(match), COUNT, settings.seed)
            progress.note(f"warm start: {len(start)} settings of {family.name} from {len(records)} records")
            if start:
                found[family.name] = start
    return found


def records_of(paths: Sequence[Path]) -> "tuple[Record, ...]":
    """Of landscapes and of runs. Raises `TaskError` for what is neither."""
    from agents.warm_start import read_records

    runs = [path for path in paths if (path / JOURNAL).exists()]
    for path in paths:
        if path.is_dir() and path not in runs and not any(path.glob("*.jsonl")):
            mend = "name a landscape, a folder of them, or a run"
            raise TaskError("holds no landscape and is no run", file=path, field="--warm-start", mend=mend)
    found = [record for run in runs for record in records_of_run(run)]
    return (*read_records(path for path in paths if path not in runs), *found)


def records_of_run(folder: Path) -> "list[Record]":
    """What a run's verdicts say of templates' settings: times taken on a GPU, a workload each."""
    import tasks
    from agents.templates import FAMILIES

    content, _ = read_events(folder / JOURNAL)
    header = header_in(folder, content)
    task = tasks.load(header.task, data_roots=header.settings.data)
    verdicts = {v.candidate_digest: v for v in recorded_verdicts(folder)}
    matched = ((family, family.matches(task)) for family in FAMILIES.values())
    return [
        record
        for family, match in matched
        if match is not None and verdicts
        for record in _records(family, match, task, verdicts, header.settings.target)
    ]


def _records(
    family: "Family", match: object, task: Task, verdicts: "dict[str, Verdict]", target: str
) -> "Iterator[Record]":
    """A verdict names a source alone, so every setting is written again until its digest is found."""
    from agents.latency import GPU_TIMERS
    from agents.warm_start import Record
    from agents.warm_start.features import suits
    from tasks.solution import Hardware

    sizes = sizes_of(family, task)
    for knobs in family.knobs(match).settings():
        digest = family.render(match, knobs).candidate(task, "template", Hardware(target)).digest
        verdict = verdicts.get(digest)
        for each in verdict.workloads if verdict is not None else ():
            axes = sizes.get(each.uuid)
            if axes and each.timer in GPU_TIMERS and each.latency_ms and suits(family.name, axes, knobs):
                yield Record(
                    family=family.name, axes=axes, knobs=dict(knobs), ms=each.latency_ms, task=task.name
                )


def sizes_of(family: "Family", task: Task) -> dict[str, dict[str, int]]:
    """Of every workload, by its uuid and by the names that the family's landscapes use.

    A product's sizes are M, N and K whatever a task calls them; other families keep the task's names.
    """
    if family.name not in ("gemm", "hopper_gemm"):
        return {each.uuid: dict(each.axes) for each in task.workloads}
    alone = {each.uuid: task.model_copy(update={"workloads": (each,)}) for each in task.workloads}
    matches = {uuid: family.matches(one) for uuid, one in alone.items()}
    return {uuid: dict(zip("MNK", gemm.shapes[0], strict=True)) for uuid, gemm in matches.items() if gemm}
