"""Writing a file whole: a reader sees all of it or none."""

import os
import tempfile
from pathlib import Path


def write_whole(path: Path, text: str) -> None:
    """Beside its place, synced, then moved there; the folders above it are made."""
    path.parent.mkdir(parents=True, exist_ok=True)
    descriptor, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(descriptor, "w", encoding="utf-8") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        Path(name).chmod(0o644)
        Path(name).replace(path)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise
