"""What agents may know of the whole search: conclusions and siblings' best, as values that nobody can write.

Only the pipeline, after a verdict, writes what these are made from.
"""

from typing import Annotated, Literal, Protocol, runtime_checkable

from pydantic import Field

from agents.descriptor import Descriptor, Part
from tasks.candidate import Candidate
from tasks.value import Value, digest_of

STRATEGY_LIMIT, REFLECTION_LIMIT = 160, 1200
"""Characters."""


class Scope(Value):
    """Where a conclusion is known to hold; what lies outside is a guess."""

    kernel_type: str
    """The definition's `op_type`, or its name where it has none."""
    architecture: str
    """Of the device that judged: a product's name, or `cpu`."""
    dtypes: tuple[str, ...]
    shapes: dict[str, tuple[int, int]]
    """Of every axis that varies, the smallest and the largest size it was judged at."""

    def covers(self, axes: dict[str, int]) -> bool:
        """Whether every axis named here lies within its bounds."""
        return all(low <= axes.get(axis, low) <= high for axis, (low, high) in self.shapes.items())


class Conclusion(Value):
    """A win or a trap, from verdicts alone."""

    kind: Literal["win", "trap"]
    strategy: Annotated[str, Field(max_length=STRATEGY_LIMIT)]
    reflection: Annotated[str, Field(max_length=REFLECTION_LIMIT)]
    """What changed against the parent, and what came of it."""
    scope: Scope
    changed: tuple[Part, ...]
    """In what the candidate differs from what it was compared with; none: in its numbers alone."""
    descriptor: Descriptor
    speedup: float | None = None
    """Time of the incumbent over the candidate's; of wins, and of traps that are right and slow."""
    error: str | None = None
    """The reason code of a rejection."""
    evidence: tuple[str, ...]
    """Digests of the verdicts it was drawn from."""
    agent: str
    """Who proposed the candidate."""

    @property
    def key(self) -> str:
        """Equal for conclusions that say the same of the same design in the same place."""
        return digest_of([self.kind, self.scope.model_dump(mode="json"), self.descriptor.model_dump(mode="json"),
                          self.error])  # fmt: skip


class Remembered(Value):
    """A conclusion, how often it was drawn, and how much those who could see it gained since."""

    conclusion: Conclusion
    replications: int = 1
    value: float = 0.0
    """Mean gain (of a win) or loss avoided (of a trap) in log time, over what came after with the same design."""


class Sibling(Value):
    """The best candidate of one agent."""

    agent: str
    candidate: Candidate
    latency_ms: float | None
    descriptor: Descriptor


class View(Value):
    """The state that an agent may read before it proposes."""

    conclusions: tuple[Remembered, ...] = ()
    siblings: tuple[Sibling, ...] = ()
    """Best first."""
    differ_from: Descriptor | None = None
    """Set while a draft is wanted: the next candidate must differ from this in at least one part."""
    skill: str | None = None
    """The skill to work by, where the agent has several."""


@runtime_checkable
class Reader(Protocol):
    """An agent that wants to see the shared state; it is shown a new view before every ask."""

    def see(self, view: View) -> None:
        """Never raises; nothing that is done with `view` reaches anybody else."""
        ...
