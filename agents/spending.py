"""What a proposal cost its agent, told by agents that pay for what they ask."""

from typing import Annotated, Protocol, runtime_checkable

from pydantic import Field

from tasks.value import Value

Units = Annotated[int, Field(ge=0)]


class Spent(Value):
    tokens_in: Units = 0
    tokens_out: Units = 0
    money_micro: Units = 0
    """Millionths of a dollar."""

    def __add__(self, other: "Spent") -> "Spent":
        return Spent(
            tokens_in=self.tokens_in + other.tokens_in,
            tokens_out=self.tokens_out + other.tokens_out,
            money_micro=self.money_micro + other.money_micro,
        )


@runtime_checkable
class Spender(Protocol):
    def take_spent(self) -> Spent:
        """What was spent since this was last called."""
        ...
