"""How much of the disk a worker has filled, asked often and counted seldom."""

import contextlib
import os
import stat
import time
from collections.abc import Iterable, Iterator
from pathlib import Path

_MOST_BYTES = 16 << 30
_RESERVE_BYTES = 1 << 30
_BETWEEN_S = 1.0


class ScratchUse:
    """Over its limit is who fills more than 16 GiB, or half of what was free, and leaves little to others."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._free = _free_bytes(folder)
        self._not_before = 0.0

    def is_over(self, pids: Iterable[int]) -> bool:
        """Of the processes `pids` open files count that have no name any more."""
        free, now = _free_bytes(self._folder), time.monotonic()
        is_plenty = free > min(_RESERVE_BYTES, self._free // 4) and self._free - free < _MOST_BYTES
        if is_plenty or now < self._not_before:
            return False
        self._not_before = now + _BETWEEN_S
        used = sum(_sizes(self._folder)) + sum(size for pid in pids for size in _unnamed(pid, self._folder))
        return used > min(_MOST_BYTES, self._free // 2)


def _free_bytes(folder: Path) -> int:
    with contextlib.suppress(OSError):
        state = os.statvfs(folder)
        return state.f_bavail * state.f_frsize
    return 0


def _sizes(folder: Path) -> Iterator[int]:
    for path, _, files in os.walk(folder):
        for name in files:
            with contextlib.suppress(OSError):
                yield os.lstat(os.path.join(path, name)).st_blocks * 512  # noqa: PTH118 - names may be any bytes


def _unnamed(pid: int, folder: Path) -> Iterator[int]:
    with contextlib.suppress(OSError):
        device = folder.stat().st_dev
        for link in Path(f"/proc/{pid}/fd").iterdir():
            with contextlib.suppress(OSError):
                state = link.stat()
                if stat.S_ISREG(state.st_mode) and not state.st_nlink and state.st_dev == device:
                    yield state.st_blocks * 512
