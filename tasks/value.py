"""The base of every value that the project keeps: frozen, exact, and named by its content."""

import hashlib
import json
from typing import Any

from pydantic import BaseModel, ConfigDict


def canonical_json(content: Any) -> str:
    """One text for one content: keys sorted, no spaces, NaN refused (`ValueError`)."""
    return json.dumps(content, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False)


def digest_of(content: Any) -> str:
    """sha256, in hexadecimal, of the canonical JSON of `content`."""
    return hashlib.sha256(canonical_json(content).encode()).hexdigest()


class Value(BaseModel):
    """A frozen value of ours; unknown keys are errors. Official files have their own, laxer base."""

    model_config = ConfigDict(frozen=True, extra="forbid", use_attribute_docstrings=True)


class OfficialModel(BaseModel):
    """A model of an official file: frozen, and it ignores unknown keys, as the official models do.

    What is ignored here is what `tasks.lint` reports.
    """

    model_config = ConfigDict(frozen=True, extra="ignore", use_attribute_docstrings=True)
