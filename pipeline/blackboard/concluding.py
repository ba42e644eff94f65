"""From a verdict to a conclusion: what changed against the parent, and what came of it. No agent has a say."""

from agents.descriptor import Descriptor, describe
from agents.memory import REFLECTION_LIMIT, STRATEGY_LIMIT, Conclusion, Scope
from guard.verdict import Verdict
from pipeline.outcome import Ruling, Word
from pipeline.run_folder import Outcome
from tasks.candidate import Candidate
from tasks.task import Task


def conclude(task: Task, outcome: Outcome, ruling: Ruling, parent: Outcome | None) -> Conclusion | None:
    """A win for what was kept over a parent, a trap for what is wrong or slow; None when nothing was learned."""
    if ruling.word is Word.ACCEPT or (ruling.word is Word.KEEP and ruling.ratio is None):
        return None
    candidate, verdict = outcome.candidate, outcome.verdict
    descriptor = describe(candidate)
    before = describe(parent.candidate) if parent else None
    if ruling.word is Word.REVERT and verdict.reason is None:
        is_unknown = ruling.ratio is None and outcome.builds_for_target is not False
        if is_unknown or descriptor == before:
            return None  # the same design with other numbers, a little slower, is tuning
    is_win = ruling.word is Word.KEEP
    ratios = _ratios(verdict, parent.verdict) if parent else {}
    where = {uuid for uuid, ratio in ratios.items() if ratio < 1} if is_win else set()
    verdicts = [verdict.digest] + ([parent.verdict.digest] if parent else [])
    return Conclusion(
        kind="win" if is_win else "trap",
        strategy=_line(candidate.strategy or str(descriptor), STRATEGY_LIMIT),
        reflection=_line(_reflection(outcome, ruling, parent, descriptor, before, ratios), REFLECTION_LIMIT),
        scope=_scope(task, candidate, verdict, where),
        changed=descriptor.differs_in(before) if before else (),
        descriptor=descriptor,
        speedup=1 / ruling.ratio if ruling.ratio else None,
        error=verdict.reason.code if verdict.reason else None,
        evidence=tuple(verdicts),
        agent=candidate.agent,
    )


def _reflection(
    outcome: Outcome,
    ruling: Ruling,
    parent: Outcome | None,
    descriptor: Descriptor,
    before: Descriptor | None,
    ratios: dict[str, float],
) -> str:
    said = [f"{ruling.why[0].upper()}{ruling.why[1:]}."]
    if outcome.verdict.reason is not None:
        said.append(f"The guard: {outcome.verdict.reason.message}.")
    if parent is None or before is None:
        said.append(f"Nothing to compare with yet; {descriptor}.")
    elif changed := descriptor.differs_in(before):
        steps = "; ".join(
            f"{part} from {getattr(before, part)} to {getattr(descriptor, part)}" for part in changed
        )
        said.append(f"Against {_line(parent.candidate.strategy, 160)!r}: {steps}.")
    else:
        said.append(f"Against {_line(parent.candidate.strategy, 160)!r}: the same design, other numbers.")
    if ratios:
        axes = {w.uuid: w.axes for w in outcome.verdict.workloads}
        best, worst = min(ratios, key=ratios.__getitem__), max(ratios, key=ratios.__getitem__)
        said.append(
            f"Best at {_sizes(axes[best])} (x {ratios[best]:.3f}), worst at {_sizes(axes[worst])} "
            f"(x {ratios[worst]:.3f})."
        )
    return " ".join(said)


def _ratios(new: Verdict, old: Verdict) -> dict[str, float]:
    """Time over the parent's, by workload, where both were timed on a GPU: a CPU's times say nothing."""
    before = {w.uuid: w.latency_ms for w in old.workloads if w.timer != "wall"}
    return {
        w.uuid: w.latency_ms / earlier
        for w in new.workloads
        if w.timer != "wall" and w.latency_ms and (earlier := before.get(w.uuid))
    }


def _scope(task: Task, candidate: Candidate, verdict: Verdict, where: set[str]) -> Scope:
    """`where`: the workloads it holds for; none: all that were judged."""
    definition, device = task.definition, verdict.environment
    target = ", ".join(candidate.solution.spec.target_hardware)
    judged = [w.axes for w in verdict.workloads if not where or w.uuid in where]
    sizes = {axis: [axes[axis] for axes in judged if axis in axes] for axis in definition.var_axes}
    return Scope(
        kernel_type=definition.op_type or definition.name,
        architecture=device.device if device.kind == "cuda" else f"cpu, for {target}",
        dtypes=tuple(
            sorted({spec.dtype for spec in (*definition.inputs.values(), *definition.outputs.values())})
        ),
        shapes={axis: (min(some), max(some)) for axis, some in sizes.items() if some},
    )


def _sizes(axes: dict[str, int]) -> str:
    return " ".join(f"{axis}={size}" for axis, size in sorted(axes.items()))


def _line(text: str, limit: int) -> str:
    """One printable line: what candidates print reaches other agents as a quotation and nothing else."""
    plain = " ".join("".join(c if c.isprintable() else " " for c in text).split())
    return plain if len(plain) <= limit else plain[: limit - 3] + "..."
