"""Files in shared memory outlive the process that made them: what a worker on a GPU leaves there is taken away.

A CPU's worker may not write there at all. A driver may have to, so on a GPU it is allowed, and looked after here.
"""

import contextlib
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Literal

FOLDER = Path("/dev/shm")


class SharedMemory:
    """Remembers what lies there before a worker begins; `sweep` removes what is new, one's own and held by nobody."""

    def __init__(self, device: Literal["cpu", "cuda"], folder: Path = FOLDER) -> None:
        self._folder = folder
        self._before = {(e.name, e.inode()) for e in _entries(folder)} if device == "cuda" else None

    def sweep(self) -> None:
        """Called when the worker has ended with all it started."""
        if self._before is None:
            return
        new = [e for e in _entries(self._folder) if (e.name, e.inode()) not in self._before and _is_own(e)]
        if not new:
            return
        held = set(_held(str(self._folder) + "/"))
        for entry in new:
            if entry.path not in held:
                with contextlib.suppress(OSError):
                    Path(entry.path).unlink()


def _entries(folder: Path) -> list[os.DirEntry[str]]:
    with contextlib.suppress(OSError), os.scandir(folder) as found:
        return list(found)
    return []


def _is_own(entry: os.DirEntry[str]) -> bool:
    with contextlib.suppress(OSError):
        return (
            entry.is_file(follow_symlinks=False) and entry.stat(follow_symlinks=False).st_uid == os.geteuid()
        )
    return False


def _held(start: str) -> Iterator[str]:
    """Paths below `start` that a living process has mapped or open."""
    for process in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            yield from (start + line.partition(start)[2] for line in (process / "maps").read_text().splitlines()
                        if start in line)  # fmt: skip
        with contextlib.suppress(OSError):
            for link in (process / "fd").iterdir():
                with contextlib.suppress(OSError):
                    yield str(link.readlink())
