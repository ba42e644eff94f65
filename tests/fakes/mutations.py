"""Documents that differ from a good one in a single place."""

import copy
from collections.abc import Iterator
from typing import Any

STRANGE: tuple[Any, ...] = (
    None, True, 0, -1, 1.5, 2.0, 2**70, "", "text", "5", "B200", [], [""], ["x", 1], {}, {"": 1}, {"type": "var"},
    {"type": "custom"}, {"type": "unknown"}, {"value": 3},
)  # fmt: skip
"""What is put in the place of every value."""


def mutations(content: Any) -> Iterator[tuple[str, Any]]:
    """Each with a name that says where and what: keys removed, keys added, values replaced by strange ones."""
    for path in _paths(content):
        for value in STRANGE:
            yield f"{path} = {value!r}", _with(content, path, value)
        if path:
            yield f"{path} removed", _without(content, path)
        if isinstance(_at(content, path), dict):
            yield f"{path} + key", _with(content, (*path, "surprise"), 1)


def _paths(content: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    yield path
    items = (
        content.items()
        if isinstance(content, dict)
        else enumerate(content)
        if isinstance(content, list)
        else ()
    )
    for key, value in items:
        yield from _paths(value, (*path, key))


def _at(content: Any, path: tuple[Any, ...]) -> Any:
    for part in path:
        content = content[part]
    return content


def _with(content: Any, path: tuple[Any, ...], value: Any) -> Any:
    if not path:
        return copy.deepcopy(value)
    changed = copy.deepcopy(content)
    _at(changed, path[:-1])[path[-1]] = copy.deepcopy(value)
    return changed


def _without(content: Any, path: tuple[Any, ...]) -> Any:
    changed = copy.deepcopy(content)
    del _at(changed, path[:-1])[path[-1]]
    return changed
