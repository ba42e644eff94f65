"""The agent that fuses: library calls where rules put them, and one kernel for what stands between them."""

from collections.abc import Iterator

from agents.library.agent import consequence
from agents.library.agent import rewritings as forms_by_rules
from agents.library.rules import Rule
from agents.listed import ListedAgent
from agents.proposal import Proposal
from agents.rewrite.cleanup import Impure, cleaned
from agents.rewrite.emit import module
from agents.rewrite.kernel import MustBeStored
from agents.rewrite.loops.propose import loop_sources
from agents.rewrite.loops.recurrence import NoLoop
from agents.rewrite.plan import Plan, plan, unfused
from agents.rewrite.rules import Rule as GraphRule
from agents.rewrite.rules import rewritings
from agents.rewrite.sizes import NotExpressible
from agents.rewrite.trace import NotTraceable, trace
from guard.verdict import Verdict
from tasks.candidate import Candidate
from tasks.errors import TaskError
from tasks.solution import Hardware, Language
from tasks.task import Task

_ELEMENTS = (4096, 2048, 8192, 1024)
"""Of a tile; the first is tried for every form of the reference before the others."""
_MOST_FORMS = 3


class RewriteAgent(ListedAgent):
    """Forms of the reference by library rules, the least daring first, and the reference as it is.

    Where nothing is measured one tile is as good as another, and interpreting kernels is slow: nothing more is
    proposed there once a candidate was right.
    """

    def __init__(self, task: Task, seed: int, *, target: Hardware = Hardware.B200) -> None:
        self._is_settled = False
        super().__init__("rewrite", task, _proposals(task), target)

    def ask(self) -> Candidate | None:
        return None if self._is_settled else super().ask()

    def tell(self, candidate: Candidate, verdict: Verdict, predicted_ms: float | None = None) -> None:
        if self.proposal_of(candidate) is not None:
            self._is_settled = verdict.environment.kind != "cuda" and verdict.status != "rejected"


def _proposals(task: Task) -> Iterator[Proposal]:
    yield from _walks(task)
    plans: list[tuple[str, Plan]] = []
    bodies: set[str] = set()
    for rules, reference in _forms(task):
        for graph_rules, found in _plans(task, reference):
            made = list(_written(task, "", found, _ELEMENTS[0]))
            if graph_rules and made and made[0].source in bodies:
                continue  # another form came to the same
            bodies |= {proposal.source for proposal in made}
            strategy = _strategy((*rules, *graph_rules), found)
            plans.append((strategy, found))
            yield from _written(task, strategy, found, _ELEMENTS[0])
    for elements in _ELEMENTS[1:]:
        for strategy, found in plans:
            if found.kernels:
                yield from _written(task, strategy, found, elements)


def _walks(task: Task) -> Iterator[Proposal]:
    """The loop over a length as one launch, where the reference has one."""
    try:
        for strategy, source in loop_sources(task):
            yield Proposal(strategy, source, languages=(Language.TRITON,))
    except (NoLoop, TaskError):
        return


def _forms(task: Task) -> Iterator[tuple[tuple[Rule, ...], str]]:
    for number, form in enumerate(forms_by_rules(task)):
        if number == _MOST_FORMS:
            break
        yield form
    yield (), task.definition.reference


def _plans(task: Task, reference: str) -> Iterator[tuple[tuple[GraphRule, ...], Plan]]:
    """What can be fused of one form, after rules over its program and without; none when it cannot be followed."""
    definition = task.definition.model_copy(update={"reference": reference})
    try:
        program = cleaned(trace(definition, task.workloads))
    except (NotTraceable, Impure, TaskError):
        return
    for rules, after in (*rewritings(program), ((), program)):
        try:
            found = plan(after) or (unfused(after) if rules else None)
        except MustBeStored:
            continue
        if found is not None:
            yield rules, found


def _written(task: Task, strategy: str, found: Plan, elements: int) -> Iterator[Proposal]:
    whole = f"{strategy}, {elements} values a tile" if found.kernels else strategy
    try:
        source = module(found, task.definition, _opening(whole), elements)
    except NotExpressible:
        return
    yield Proposal(whole, source, languages=(Language.TRITON if found.kernels else Language.PYTORCH,))


def _strategy(rules: tuple[Rule | GraphRule, ...], found: Plan) -> str:
    calls = len(found.steps) - len(found.kernels)
    names = ", ".join(rule.name for rule in rules)
    by = f", after the rules {names} ({consequence(rules)})" if rules else ""
    kernels = f"{len(found.kernels)} fused kernels between " if found.kernels else ""
    return f"{kernels}{calls} calls of torch{by}"


def _opening(strategy: str) -> str:
    return f"{strategy[:1].upper()}{strategy[1:]}."
