"""Every published figure again, from the raw times in the file alone; no GPU, no judging, no trust."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from guard.campaign import read
from guard.duel_record import Shard
from guard.figures import publish


class Unfounded(NamedTuple):
    """A figure that the raw times do not bear out."""

    statement: int
    """Which of the file's published lines, from 1."""
    field: str
    published: Any
    derived: Any

    def __str__(self) -> str:
        return f"statement {self.statement}: {self.field}: published {self.published!r}, derived {self.derived!r}"


class Rederived(NamedTuple):
    statements: int
    figures: int
    unfounded: tuple[Unfounded, ...]


def rederive(path: Path) -> Rederived:
    """Each statement of the file computed again from the lines before it. `TaskError` for what is no such file."""
    contents = read(path)
    unfounded: list[Unfounded] = []
    figures = 0
    for number, (shards, published) in enumerate(contents.published, 1):
        said = published.model_dump(mode="json")
        figures += sum(1 for _ in _leaves(said))
        unfounded += [
            Unfounded(number, *found) for found in _differences(said, _again(shards, said["remark"]))
        ]
    return Rederived(len(contents.published), figures, tuple(unfounded))


def _again(shards: tuple[Shard, ...], remark: str) -> dict[str, Any]:
    """The remark is a sentence of the run's own, not a figure: it is taken over."""
    return publish(shards).model_copy(update={"remark": remark}).model_dump(mode="json")


def _leaves(content: Any) -> Iterator[Any]:
    if isinstance(content, dict | list):
        for item in content.values() if isinstance(content, dict) else content:
            yield from _leaves(item)
    elif isinstance(content, float | int) and not isinstance(content, bool):
        yield content


def _differences(said: Any, derived: Any, field: str = "") -> Iterator[tuple[str, Any, Any]]:
    if isinstance(said, dict) and isinstance(derived, dict):
        for key in sorted({*said, *derived}):
            yield from _differences(said.get(key), derived.get(key), f"{field}.{key}".lstrip("."))
    elif isinstance(said, list) and isinstance(derived, list) and len(said) == len(derived):
        for index, pair in enumerate(zip(said, derived, strict=True)):
            yield from _differences(*pair, f"{field}[{index}]")
    elif said != derived:
        yield field, said, derived
