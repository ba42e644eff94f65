"""Writing a file whole: a reader sees all of it or none."""

import errno
import os
from pathlib import Path


def write_whole(file: Path, content: bytes) -> None:
    """Beside its place, synced, then moved there.

    What is there and no ordinary file, such as a pipe or `/dev/null`, is written into and stays what it is.
    """
    file = file.resolve()
    if file.is_dir():
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(file))
    if file.exists() and not file.is_file():
        file.write_bytes(content)
        return
    beside = file.with_name(f".{file.name}.{os.getpid()}.part")
    try:
        with beside.open("wb") as stream:
            stream.write(content)
            stream.flush()
            os.fsync(stream.fileno())
        beside.replace(file)
    finally:
        beside.unlink(missing_ok=True)
