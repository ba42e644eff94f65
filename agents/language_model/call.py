"""One call of a model, as values: what was asked, what came back, and what it cost."""

from collections.abc import Callable
from typing import Literal

from agents.spending import Spent
from tasks.value import Value, digest_of


class Message(Value):
    role: Literal["system", "user", "assistant"]
    content: str


class Request(Value):
    model: str
    messages: tuple[Message, ...]
    max_tokens: int
    """To be written at most."""
    temperature: float

    @property
    def digest(self) -> str:
        return digest_of(self.model_dump(mode="json"))


class Reply(Value):
    text: str
    finish: Literal["stop", "length", "refused", "cut"]
    """`length`: at the limit of tokens; `cut`: the connection or the time ended first."""
    spent: Spent
    counted: bool = True
    """False: the endpoint said nothing of tokens, and they were guessed from the length of the texts."""


class ModelFailed(Exception):
    """No reply at all, in one sentence without keys or addresses."""


Model = Callable[[Request], Reply]
"""Raises `ModelFailed`."""


class Prices(Value):
    """Dollars a million tokens, which is millionths of a dollar a token."""

    per_million_in: float = 0.0
    per_million_out: float = 0.0

    def spent(self, tokens_in: int, tokens_out: int) -> Spent:
        """Rounded up: what is cheap is not free."""
        money = tokens_in * self.per_million_in + tokens_out * self.per_million_out
        return Spent(tokens_in=tokens_in, tokens_out=tokens_out, money_micro=-int(-money // 1))


def guessed_tokens(text: str) -> int:
    """About four characters a token; used where an endpoint does not count."""
    return (len(text) + 3) // 4
