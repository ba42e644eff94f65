"""The chain of hashes: no event of a run can be changed, left out or moved without its successors showing it."""

import hashlib
from collections.abc import Iterable
from typing import Any

from tasks.value import canonical_json

BEGINNING = "0" * 64


def link(previous: str, content: Any) -> str:
    """sha256, in hexadecimal, of the link before and the canonical JSON of `content`."""
    return hashlib.sha256(f"{previous}\n{canonical_json(content)}".encode()).hexdigest()


def links(contents: Iterable[Any]) -> list[str]:
    """One after each event, in order."""
    found: list[str] = []
    for content in contents:
        found.append(link(found[-1] if found else BEGINNING, content))
    return found
