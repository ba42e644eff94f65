"""Taking away a folder that a candidate wrote: any depth, any name, any rights, and never through a link."""

import contextlib
import os
from pathlib import Path

_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC


def remove_tree(root: Path) -> None:
    """Remove `root` and all below it, as far as that is possible; what a link leads to stays where it is.

    It walks down and back up with one open folder at a time: a candidate may make folders a thousand deep, and
    neither paths nor calls nor descriptors may grow with them.
    """
    with contextlib.suppress(OSError):
        here = os.open(root, _FOLDER)
        try:
            here = _emptied(here)
        finally:
            os.close(here)
        root.rmdir()


def _emptied(here: int) -> int:
    """The same folder, opened anew perhaps, with nothing in it."""
    trail: list[str] = []
    pending = [_names(here)]
    while True:
        if pending[-1]:
            name = pending[-1].pop()
            below = _removed_or_entered(here, name)
            if below is not None:
                os.close(here)
                here = below
                trail.append(name)
                pending.append(_names(here))
        elif trail:
            pending.pop()
            above = os.open("..", _FOLDER, dir_fd=here)
            os.close(here)
            here = above
            with contextlib.suppress(OSError):
                os.rmdir(trail.pop(), dir_fd=here)
        else:
            return here


def _names(folder: int) -> list[str]:
    with os.scandir(folder) as entries:
        return [entry.name for entry in entries]


def _removed_or_entered(here: int, name: str) -> int | None:
    """An open folder, or None when it was anything else, or cannot be helped."""
    with contextlib.suppress(OSError):
        os.unlink(name, dir_fd=here)
        return None
    with contextlib.suppress(OSError):
        # only what is a folder is changed: a link that cannot be removed would lead elsewhere
        os.close(os.open(name, os.O_PATH | os.O_DIRECTORY | os.O_NOFOLLOW, dir_fd=here))
        os.chmod(name, 0o700, dir_fd=here)
        return os.open(name, _FOLDER, dir_fd=here)
    return None
