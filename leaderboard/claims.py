"""What others claim to have measured, kept apart from everything that was measured here.

A `Claim` has no times, no environment and no samples, so that nothing that scores or compares can take one.
"""

from datetime import date
from pathlib import Path
from typing import Literal

from pydantic import ValidationError

from tasks.document import read_json
from tasks.errors import TaskError
from tasks.value import Value

CLAIMS = Path(__file__).with_name("claims.json")


class ClaimedFigure(Value):
    quantity: Literal["score", "throughput", "speed-up"]
    unit: str
    value: float
    qualifier: str = ""
    """Under which of several conditions, in the claim's own terms."""
    beside: float | None = None
    """What it is claimed to beat, in the same unit."""
    beside_what: str = ""

    def __str__(self) -> str:
        beside = (
            f" beside {self.beside:g} {self.unit} of {self.beside_what}" if self.beside is not None else ""
        )
        qualifier = f" ({self.qualifier})" if self.qualifier else ""
        return f"{self.quantity} {self.value:g} {self.unit}{beside}{qualifier}"


class Claim(Value):
    kernel: str
    problem: str | None
    """As the claim names it."""
    hardware: str | None
    """None: not stated."""
    strategy: str | None
    figures: tuple[ClaimedFigure, ...]
    """Empty: claimed without a figure."""


class Claims(Value):
    format: Literal["kernelarc-claims-1"]
    note: str
    claimed_on: date
    source: str
    claims: tuple[Claim, ...]

    def about(self, problem: str) -> tuple[Claim, ...]:
        return tuple(claim for claim in self.claims if claim.problem == problem)


def read_claims(path: Path = CLAIMS) -> Claims:
    """`TaskError` names the field that cannot be read."""
    try:
        return Claims.model_validate(read_json(path).content)
    except ValidationError as error:
        first = error.errors()[0]
        field = ".".join(map(str, first["loc"]))
        raise TaskError(first["msg"], file=path, field=field, mend="correct the claims") from error
