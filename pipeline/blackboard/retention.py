"""Which conclusions agents are shown: a knob, `none`, `fifo`, `top` or `all`, with how many of each kind."""

from collections.abc import Sequence
from typing import Literal, Self

from agents.memory import Remembered
from tasks.value import Value

Rule = Literal["none", "fifo", "top", "all"]
DEFAULT_COUNT = 16


class Retention(Value):
    """`fifo`: the latest wins and the latest traps; `top`: those of the highest learned value."""

    rule: Rule = "fifo"
    count: int = DEFAULT_COUNT
    """Wins, and as many traps, of one kernel type."""

    @classmethod
    def parse(cls, text: str) -> Self:
        """`none`, `all`, `fifo`, `fifo:32`, as the settings allow them."""
        rule, _, count = text.partition(":")
        return cls.model_validate({"rule": rule, **({"count": int(count)} if count else {})})

    def keep(self, remembered: Sequence[Remembered]) -> tuple[Remembered, ...]:
        """Of these, oldest first, what is shown: wins first, each kind in the order that the rule gives."""
        kinds = [[r for r in remembered if r.conclusion.kind == kind] for kind in ("win", "trap")]
        return tuple(r for kind in kinds for r in self._of_one_kind(kind))

    def _of_one_kind(self, some: list[Remembered]) -> list[Remembered]:
        if self.rule == "none":
            return []
        if self.rule == "top":
            return sorted(some, key=lambda r: -r.value)[: self.count]
        return some[::-1] if self.rule == "all" else some[: -self.count - 1 : -1]
