"""The seam of kernel templates: recognise a problem, say what can be turned, write the kernel for one setting."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product
from typing import Any, Protocol

from agents.proposal import Proposal
from tasks.task import Task

Knob = int | str | bool
Knobs = Mapping[str, Knob]


def _everything(knobs: Knobs) -> bool:
    return True


@dataclass(frozen=True)
class KnobSpace:
    """The settings of a template: every knob with its values, and which combinations make sense."""

    choices: Mapping[str, tuple[Knob, ...]]
    allows: Callable[[Knobs], bool] = _everything
    """False for what cannot run or is surely bad: too many registers, more shared memory than there is."""
    start: tuple[Knobs, ...] = field(default=())
    """Settings that experience suggests; they are tried first, in this order."""

    def settings(self) -> Iterator[dict[str, Knob]]:
        """Every allowed combination, in the order of the choices."""
        for values in product(*self.choices.values()):
            knobs = dict(zip(self.choices, values, strict=True))
            if self.allows(knobs):
                yield knobs

    def places_of(self, knobs: Knobs) -> tuple[int, ...]:
        """Where the value of each knob stands among its choices."""
        return tuple(values.index(knobs[name]) for name, values in self.choices.items())

    def at(self, places: Sequence[int]) -> dict[str, Knob]:
        """The knobs whose values stand at these places."""
        return {
            name: values[place] for (name, values), place in zip(self.choices.items(), places, strict=True)
        }


class Family(Protocol):
    """`Match` is the family's own type: what it recognised of a task, enough to write a kernel."""

    name: str
    numerics: str
    """Where the kernels round, and how that differs from the reference."""

    def matches(self, task: Task) -> Any | None:
        """None when the task is not of this family."""
        ...

    def knobs(self, match: Any) -> KnobSpace: ...

    def render(self, match: Any, knobs: Knobs) -> Proposal:
        """A self-contained solution that is right for every workload of the task, whatever the knobs."""
        ...
