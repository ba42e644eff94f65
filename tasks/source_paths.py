"""Source paths that no file can have, or that two sources claim: said before anything is staged or judged."""

from collections.abc import Iterator, Sequence
from pathlib import PurePosixPath
from typing import NamedTuple

LONGEST_PATH, LONGEST_NAME = 1023, 255
"""Bytes of a path below the staging folder, and of one name in it, which Linux takes."""


class PathFault(NamedTuple):
    """`place` is the source's number in the file, from 0."""

    place: int
    problem: str
    mend: str


def path_faults(paths: Sequence[str]) -> Iterator[PathFault]:
    """The official model takes these paths; writing their files out then fails, or one overwrites another."""
    plain = [PurePosixPath(path) for path in paths]
    first = {path: index for index, path in reversed(list(enumerate(plain)))}
    folders = {parent: index for index, path in enumerate(plain) for parent in path.parents}
    for index, path in enumerate(plain):
        said = _impossible(path)
        if said is None and path in folders:
            said = f"is a file where sources[{folders[path]}] needs a folder", "rename one of the two"
        if said is None and first[path] < index:
            said = f"is the file of sources[{first[path]}] again", "give each file its own path"
        if said is not None:
            shown = paths[index] if len(paths[index]) <= 40 else f"{paths[index][:37]}..."
            yield PathFault(index, f"{shown!r} {said[0]}", said[1])


def _impossible(path: PurePosixPath) -> tuple[str, str] | None:
    if not path.name:
        return "names no file", "write a file's name"
    if "\0" in str(path):
        return "holds a zero byte", "remove it"
    longest = max(len(part.encode(errors="replace")) for part in path.parts)
    if longest > LONGEST_NAME or len(str(path).encode(errors="replace")) > LONGEST_PATH:
        return (
            "is longer than a file's name may be",
            f"keep each name to {LONGEST_NAME} bytes, and the path to {LONGEST_PATH}",
        )
    return None
