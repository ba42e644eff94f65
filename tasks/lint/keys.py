"""Keys that the official models drop without a word, and values they silently convert."""

import math
from collections.abc import Iterator
from typing import Any

from tasks.document import Document, json_path, kind_of
from tasks.task import LintFinding
from tasks.validation import nearest
from tasks.value import OfficialModel

Path = tuple[str | int, ...]


def key_findings(model: OfficialModel, document: Document) -> Iterator[LintFinding]:
    """`model` is what `document` was read as; what it does not hold was dropped."""
    for key in document.doubled:
        yield document.finding(
            "warning", "doubled-key", key, "is given twice, and only the last counts", "remove one of them"
        )
    yield from _inside(model, document.content, (), document)


def _inside(value: Any, raw: Any, path: Path, document: Document) -> Iterator[LintFinding]:
    if isinstance(value, OfficialModel) and isinstance(raw, dict):
        yield from _unknown(value, raw, path, document)
    elif isinstance(value, int | float):
        yield from _converted(value, raw, json_path(path), document)
    for part, inner, raw_inner in _pairs(value, raw):
        yield from _inside(inner, raw_inner, (*path, part), document)


def _converted(value: float, raw: Any, field: str, document: Document) -> Iterator[LintFinding]:
    """pydantic makes a number of `"4"`, of "nan" and of true, and true of 1."""
    if isinstance(value, float) and not math.isfinite(value):
        problem = f"is {kind_of(raw)} and is read as {value}, which is no JSON number"
        yield document.finding("error", "not-finite", field, problem, "write a finite number")
    elif isinstance(raw, bool) and not isinstance(value, bool):
        problem = f"is {kind_of(raw)} and is read as {value:g}"
        yield document.finding("warning", "converted", field, problem, "write the number that is meant")
    elif isinstance(raw, str):
        problem = f"is {kind_of(raw)} and is read as {kind_of(value).removeprefix('the number ')}"
        yield document.finding("note", "converted", field, problem, "write it without quotes")
    elif isinstance(value, bool) and not isinstance(raw, bool):
        problem = f"is {kind_of(raw)} and is read as {kind_of(value)}"
        yield document.finding("note", "converted", field, problem, f"write {kind_of(value)}")


def _pairs(value: Any, raw: Any) -> list[tuple[str | int, Any, Any]]:
    """What `value` and `raw` both hold, by key or index."""
    if isinstance(value, OfficialModel) and isinstance(raw, dict):
        return [(name, getattr(value, name), raw[name]) for name in type(value).model_fields if name in raw]
    if isinstance(value, dict) and isinstance(raw, dict):
        return [(key, value[key], raw[key]) for key in value if key in raw]
    if isinstance(value, tuple) and isinstance(raw, list):
        return [(index, *pair) for index, pair in enumerate(zip(value, raw, strict=False))]
    return []


def _unknown(
    model: OfficialModel, raw: dict[str, Any], path: Path, document: Document
) -> Iterator[LintFinding]:
    fields = type(model).model_fields
    free = [name for name in fields if name not in raw]
    for key in raw:
        if key in fields:
            continue
        field, intended = json_path((*path, key)), nearest(key, free)
        if intended:
            problem = f"is unknown and ignored: {intended} stays {getattr(model, intended)!r}"
            yield document.finding("warning", "misspelt-key", field, problem, f"write {intended!r}")
        else:
            yield document.finding(
                "note", "unknown-key", field, "is unknown and ignored", "remove it, or check its spelling"
            )
