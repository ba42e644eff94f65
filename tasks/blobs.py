"""Where the recorded inputs (safetensors files) lie."""

from collections.abc import Sequence
from pathlib import Path, PurePosixPath


def find_blob(path: str, roots: Sequence[str | Path]) -> Path | None:
    """The file that `path` names under the first root that has it; None when no root does.

    Leading folders of `path` are dropped one by one, as the public evaluator does, so that a root may stand
    anywhere above the file. An absolute path stands for itself. A path with `..` is never followed.
    """
    relative = PurePosixPath(path)
    if ".." in relative.parts:
        return None
    if relative.is_absolute():
        return _file(Path(path))
    for root in roots:
        for start in range(len(relative.parts)):
            found = _file(Path(root, *relative.parts[start:]))
            if found is not None:
                return found
    return None


def _file(candidate: Path) -> Path | None:
    try:
        return candidate if candidate.is_file() else None
    except (OSError, ValueError):
        return None
