"""What the guard says of two candidates: which is faster, by how much, and how sure that is."""

from enum import StrEnum
from typing import Annotated, Self

from pydantic import Field, model_validator

from guard.verdict import TimerName
from tasks.value import Value, digest_of

Share = Annotated[float, Field(gt=0, lt=1)]


class Outcome(StrEnum):
    """The candidate against the baseline. The last two are never a pass."""

    FASTER = "FASTER"
    SLOWER = "SLOWER"
    EQUIVALENT = "EQUIVALENT"
    UNSTABLE = "UNSTABLE"
    """No direction shown, and processes differ too much, or fall into two groups."""
    INCONCLUSIVE = "INCONCLUSIVE"


class CannotReject(ValueError):
    """A test was asked for that could not reject with so few processes, whatever they measured."""


class Rule(Value):
    """How a comparison is decided; declared before the first process runs."""

    looks: tuple[Annotated[int, Field(ge=2)], ...] = (8, 10, 20)
    """Processes an arm at which the samples are looked at; never in between."""
    shares: tuple[Share | Annotated[float, Field(ge=1, le=1)], ...] = (0.2, 0.3, 0.5)
    """Of each alpha, how much each look may spend."""
    alpha: Share = 0.01
    """Chance of any false SLOWER over all workloads and looks; FASTER has as much, as its own family."""
    equivalence_alpha: Share = 0.05
    """Chance of a false EQUIVALENT at the margin, per workload, over all looks."""
    tau: Share = 0.005
    """Smallest relative change worth a word."""
    delta: Share = 0.02
    """Equivalence margin."""
    unstable_spread: Share = 0.03
    """Robust standard deviation between processes above which nothing is called equivalent."""
    paired: bool = False
    """Processes of one index were declared pairs before the run, for clocks that wander."""
    power: Share = 0.95
    """For the minimal detectable effect."""

    @model_validator(mode="after")
    def _looks_and_shares_match(self) -> Self:
        if len(self.looks) != len(self.shares) or not self.looks:
            raise ValueError("looks and shares must be equally many, and not none")
        if list(self.looks) != sorted(set(self.looks)):
            raise ValueError("looks must rise")
        if abs(sum(self.shares) - 1) > 1e-9:
            raise ValueError("shares must add up to 1")
        return self


GATE = Rule()
FIXED = Rule(looks=(10,), shares=(1.0,))
"""One look at ten processes an arm."""


class ModePair(Value):
    """Two groups of processes instead of one location."""

    arm: str
    low_ms: float
    high_ms: float
    low_count: int
    high_count: int


class EndpointComparison(Value):
    """One workload, or the geometric mean over all of them. Ratios are candidate over baseline."""

    workload: str
    """uuid, or `geomean`."""
    outcome: Outcome
    processes: int
    """P, an arm, at the look that decided (the last look taken when none did)."""
    ratio: float
    """Hodges-Lehmann estimate."""
    low: float | None
    """Exact interval at `level`; None when so few processes give none."""
    high: float | None
    level: float
    p_slower: float
    """Holm-adjusted over the workloads at that look."""
    p_faster: float
    minimal_effect: float
    """Relative change that the test at that look would have found with the rule's power."""
    alpha_spent: float
    """Of each direction's family, over the looks up to the one that decided."""
    baseline_ms: float
    candidate_ms: float
    """Median over processes of their locations."""
    spread: float
    """Robust standard deviation between processes of an arm, relative."""
    modes: tuple[ModePair, ...] = ()

    def line(self, delta: float) -> str:
        """One line for a person: never an outcome without P, the smallest visible effect and the alpha."""
        interval = "no interval" if self.low is None else f"[{self.low:.4f}, {self.high:.4f}]"
        margin = f" within {delta:.1%}" if self.outcome is Outcome.EQUIVALENT else ""
        modes = "".join(
            f"; {m.arm} has two modes: {m.low_count} x {m.low_ms:.6g} ms, {m.high_count} x {m.high_ms:.6g} ms"
            for m in self.modes
        )
        return (
            f"{self.workload}: {self.outcome}{margin}, ratio {self.ratio:.4f} {interval}, "
            f"P {self.processes} v {self.processes}, could see {self.minimal_effect:.2%}, "
            f"alpha spent {self.alpha_spent:.2%}, spread {self.spread:.2%}{modes}"
        )


class Comparison(Value):
    """All workloads of one problem and their geometric mean, from raw samples by `rule` alone."""

    rule: Rule
    timer: TimerName
    kind: str
    looks_taken: tuple[int, ...]
    workloads: tuple[EndpointComparison, ...]
    overall: EndpointComparison
    """The primary endpoint: geometric mean over the workloads, one number a process."""
    discarded: int = 0
    """Processes thrown away for a named cause before they were looked at."""

    @property
    def digest(self) -> str:
        return digest_of(self.model_dump(mode="json"))

    @property
    def family(self) -> Outcome:
        """The worst of the workloads: one SLOWER makes all SLOWER, one open question leaves all open."""
        found = {w.outcome for w in self.workloads}
        order = (
            Outcome.SLOWER, Outcome.UNSTABLE, Outcome.INCONCLUSIVE, Outcome.FASTER, Outcome.EQUIVALENT,
        )  # fmt: skip
        return next(outcome for outcome in order if outcome in found)

    @property
    def passes(self) -> bool:
        """For gates: every workload is shown to be equivalent or faster. Not knowing is not passing."""
        return self.family in (Outcome.FASTER, Outcome.EQUIVALENT)

    @property
    def alpha_spent(self) -> float:
        return self.overall.alpha_spent if not self.workloads else max(w.alpha_spent for w in self.workloads)

    def lines(self) -> tuple[str, ...]:
        return tuple(e.line(self.rule.delta) for e in (self.overall, *self.workloads))
