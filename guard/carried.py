"""What a candidate may carry from one process to the next: its scratch folder as it was when its build phase ended.

Code that was compiled is worth keeping. Answers are not: values come back in later processes, and who finds their
answers on the disk has not computed them.
"""

import os
import shutil
import stat
from pathlib import Path

from guard.removal import remove_tree

_MOST_BYTES = 2 << 30
_MOST_FILES = 20_000


class Carried:
    """A copy of `scratch`, taken once, kept at `kept`; what is too much or cannot be copied is not carried at all."""

    def __init__(self, scratch: Path, kept: Path) -> None:
        self._scratch, self._kept = scratch, kept
        self._is_taken = False

    def take(self) -> None:
        """Of the first process alone, while it stands still: later ones have seen values that come back."""
        if not self._is_taken:
            self._is_taken = True
            _copy(self._scratch, self._kept)

    def renew(self) -> None:
        """The folder as it was at `take`; as it is, when nothing was taken. No process may be at work in it."""
        if self._is_taken:
            remove_tree(self._scratch)
            _copy(self._kept, self._scratch)
            self._scratch.mkdir(parents=True, exist_ok=True)


def _copy(source: Path, target: Path) -> None:
    """Folders, plain files and links; nothing of it where something fails."""
    try:
        left = [_MOST_FILES, _MOST_BYTES]
        for folder, folders, files, opened in os.fwalk(source, follow_symlinks=False, onerror=_raise):
            here = target / Path(folder).relative_to(source)
            here.mkdir(parents=True, exist_ok=True)
            for name in (*files, *folders):
                _copy_one(name, opened, here / name, left)
    except (OSError, RecursionError, ValueError):
        remove_tree(target)


def _copy_one(name: str, folder: int, target: Path, left: list[int]) -> None:
    """Never through a link, and never from what would keep the reader waiting."""
    state = os.stat(name, dir_fd=folder, follow_symlinks=False)
    left[0] -= 1
    if stat.S_ISLNK(state.st_mode):
        target.symlink_to(os.readlink(name, dir_fd=folder))
    elif stat.S_ISREG(state.st_mode):
        left[1] -= state.st_size
        if min(left) < 0:
            raise ValueError("more than is worth carrying")
        found = os.open(name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC, dir_fd=folder)
        with os.fdopen(found, "rb") as reading, target.open("wb") as writing:
            shutil.copyfileobj(reading, writing)
        target.chmod(stat.S_IMODE(state.st_mode) | stat.S_IRUSR | stat.S_IWUSR)
        os.utime(target, ns=(state.st_atime_ns, state.st_mtime_ns))


def _raise(error: OSError) -> None:
    raise error
