"""Snapshots on disk, named by their digests, and the candidate that one of them holds."""

import json
from pathlib import Path

from pydantic import ValidationError

from leaderboard.snapshot import Snapshot
from leaderboard.whole_file import write_whole
from tasks.candidate import Candidate
from tasks.document import read_json
from tasks.errors import TaskError
from tasks.solution import Solution
from tasks.value import digest_of


def write_snapshot(snapshot: Snapshot, folder: Path) -> Path:
    """`folder/<name>.json`, whole or not at all; writing the same snapshot again changes nothing."""
    path = folder / f"{snapshot.name}.json"
    content = snapshot.model_dump(mode="json")
    write_whole(path, json.dumps(content, indent=1, sort_keys=True, ensure_ascii=False) + "\n")
    return path


def read_snapshot(path: Path) -> Snapshot:
    """The snapshot in `path`; `TaskError` when it is none, or is not the one that its name says."""
    document = read_json(path)
    try:
        snapshot = Snapshot.model_validate(document.content)
    except ValidationError as error:
        first = error.errors()[0]
        raise TaskError(
            f"is no snapshot: {first['msg']}",
            file=path,
            field=".".join(map(str, first["loc"])),
            mend="take it again with `kernelarc snapshot`",
        ) from error
    if not path.stem.endswith(snapshot.digest[:12]):
        raise TaskError(
            f"was changed after it was taken: its content is {snapshot.digest[:12]}",
            file=path,
            mend="restore it, or take it again with `kernelarc snapshot`",
        )
    return snapshot


def rebuild(snapshot: Snapshot, folder: Path | None = None) -> Candidate:
    """The candidate exactly as it was judged, from the snapshot, or from the submission's `folder`.

    `TaskError` when there is no solution, or it is not the one that was judged.
    """
    solution = snapshot.solution or _solution_in(snapshot, folder)
    if digest_of(solution.model_dump(mode="json")) != snapshot.solution_digest:
        raise TaskError("is not the solution of the snapshot", field="solution", mend="name its submission")
    record = snapshot.candidate
    # the uploaded file writes out target and flags; what was judged is the recorded build spec
    candidate = Candidate(
        solution=solution.model_copy(update={"spec": record.spec}),
        definition_digest=snapshot.task.definition_digest,
        agent=record.agent,
        strategy=record.strategy,
    )
    if candidate.digest != record.digest:
        raise TaskError("does not rebuild the candidate that was judged", field="candidate.digest")
    return candidate


def _solution_in(snapshot: Snapshot, folder: Path | None) -> Solution:
    from submissions.read import read

    if folder is None:
        raise TaskError(
            "holds no solution, only its digest",
            field="solution",
            mend=f"name the folder of submission {snapshot.submission[:12]} with --submission",
        )
    return read(folder).solution
