"""What the page shows of one submission or snapshot, small enough to be shipped thousands of times."""

from typing import Literal, NamedTuple

from guard.verdict import Environment
from tasks.value import Value

Box = tuple[int, int, int, int, int]
"""One process: lowest, lower quartile, median, upper quartile and highest time, in 1/10,000 of the workload's
latency above it. So five figures take ten characters, and nobody can see the difference on a plot."""


class ShownWorkload(Value):
    """One judged workload. Times in milliseconds, scores where tables of T_SOL and T_b were at hand."""

    uuid: str
    axes: str
    status: str
    accepted: bool
    latency_ms: float | None = None
    low_ms: float | None = None
    """Exact 95 % interval of the latency, by the medians of its processes."""
    high_ms: float | None = None
    timer: str | None = None
    score: float | None = None
    t_sol_ms: float | None = None
    t_b_ms: float | None = None
    audit: str | None = None
    error: float | None = None
    """Largest absolute error over all checked calls."""
    matched: float | None = None
    """Smallest share of elements within tolerance."""
    note: str = ""
    boxes: tuple[Box, ...] = ()


class Foreseen(Value):
    """One full-size workload on the roofline of the target: work that was counted, a time that was predicted."""

    uuid: str
    flops: int
    bytes: int
    predicted_ms: float
    bound_by: str
    launches: int


class ShownKernel(Value):
    name: str
    target: str
    registers: int
    spill_bytes: int
    shared_bytes: int
    launches: int


class Source(NamedTuple):
    path: str
    text: str
    digest: str
    """sha256 of the text."""


class Entry(Value):
    """One row of a task's page and all that opens below it. `sources` are digests of texts kept beside it."""

    digest: str
    kind: Literal["submission", "snapshot"]
    place: str
    """Its folder or file, as it was named."""
    readiness: str
    reasons: tuple[str, ...] = ()
    agent: str
    strategy: str
    languages: tuple[str, ...] = ()
    target: str
    environment: Environment
    judged_at: str
    command: str = ""
    verify: str = ""
    precision: str
    protocol: str
    processes: int
    evaluator: str = ""
    flags: tuple[str, ...] = ()
    advice: tuple[str, ...] = ()
    lint: tuple[str, ...] = ()
    versions: dict[str, str] = {}
    score: float | None = None
    """By the official formula, with every failed workload as 0."""
    low: float | None = None
    high: float | None = None
    predicted: str = ""
    remarks: tuple[str, ...] = ()
    latency_ms: float | None = None
    """Geometric mean over the workloads; None unless each has a time."""
    workloads: tuple[ShownWorkload, ...] = ()
    foreseen: tuple[Foreseen, ...] = ()
    foreseen_for: str = ""
    kernels: tuple[ShownKernel, ...] = ()
    sources: tuple[tuple[str, str], ...] = ()
    """Path and sha256 of each file."""

    @property
    def order(self) -> tuple[bool, float, bool, float, str]:
        """Best first: by score, then by a GPU's time, then by a CPU's, which says nothing."""
        return (
            self.score is None,
            -(self.score or 0.0),
            self.environment.kind == "cpu",
            self.latency_ms if self.latency_ms is not None else float("inf"),
            self.digest,
        )


class Tried(Value):
    """One candidate of a search."""

    agent: str
    candidate: str
    strategy: str = ""
    status: str
    reason: str | None = None
    latency_ms: float | None = None
    predicted_ms: float | None = None


class History(Value):
    """One run's candidates, in the order judged."""

    run: str
    command: str
    device: str
    tried: tuple[Tried, ...]
    by_measurement: bool
    """On a GPU by what was measured, elsewhere by what is predicted for the target."""


class ShownConclusion(Value):
    """What a run wrote down as worth knowing: a win or a trap, and what it rests on."""

    kind: str
    text: str
    scope: str = ""
    evidence: tuple[str, ...] = ()
    run: str = ""
