"""Amounts of several currencies, in whole units so that nothing is lost to rounding."""

from collections.abc import Callable, Mapping
from typing import Annotated, Self

from pydantic import Field

from tasks.value import Value

Units = Annotated[int, Field(ge=0)]


class Amounts(Value):
    """Never negative. Time in microseconds, money in millionths of a dollar."""

    candidates: Units = 0
    """Candidates that reached the device, crash or not."""
    attempts: Units = 0
    """Proposals of any kind: judged, refused as duplicates, or never made because the proposer failed."""
    gpu_us: Units = 0
    """Time the judge held the device (or, without a GPU, the machine)."""
    build_us: Units = 0
    """Time spent compiling for a target that is not here."""
    tokens_in: Units = 0
    tokens_out: Units = 0
    money_micro: Units = 0
    wall_us: Units = 0

    @classmethod
    def of(cls, units: Mapping[str, int]) -> Self:
        return cls.model_validate({name: amount for name, amount in units.items() if amount})

    def units(self) -> dict[str, int]:
        """By currency, those that are not zero."""
        return {name: amount for name in CURRENCIES if (amount := getattr(self, name))}

    def __add__(self, other: "Amounts") -> "Amounts":
        return self._each(other, lambda mine, theirs: mine + theirs)

    def least(self, other: "Amounts") -> "Amounts":
        """The smaller of both, currency by currency."""
        return self._each(other, min)

    def beyond(self, other: "Amounts") -> "Amounts":
        """What is left of these when `other` is taken away, never below zero."""
        return self._each(other, lambda mine, theirs: max(mine - theirs, 0))

    def _each(self, other: "Amounts", join: Callable[[int, int], int]) -> "Amounts":
        return Amounts.of({name: join(getattr(self, name), getattr(other, name)) for name in CURRENCIES})


CURRENCIES = tuple(Amounts.model_fields)
NOTHING = Amounts()
