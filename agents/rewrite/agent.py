"""The agent that fuses: library calls where rules put them, and one kernel for what stands between them."""

from collections.abc import Iterator

from agents.library.agent import consequence, rewritings
from agents.library.rules import Rule
from agents.listed import ListedAgent
from agents.proposal import Proposal
from agents.rewrite.cleanup import Impure, cleaned
from agents.rewrite.emit import module
from agents.rewrite.kernel import MustBeStored
from agents.rewrite.plan import Plan, plan
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

    Where nothing is measured one tile is as good as another, and interpreting kernels is slow: one candidate is
    proposed there, the form that keeps the precision.
    """

    def __init__(self, task: Task, seed: int, *, target: Hardware = Hardware.B200) -> None:
        self._is_measured = True
        super().__init__("rewrite", task, _proposals(task), target)

    def tell(self, candidate: Candidate, verdict: Verdict, predicted_ms: float | None = None) -> None:
        self._is_measured = verdict.environment.kind == "cuda"

    def is_worth_asking(self, proposal: Proposal) -> bool:
        return self._is_measured or not self._asked


def _proposals(task: Task) -> Iterator[Proposal]:
    plans: list[tuple[str, Plan]] = []
    for rules, reference in _forms(task):
        found = _plan(task, reference)
        if found is None:
            continue
        strategy = _strategy(rules, found)
        plans.append((strategy, found))
        yield from _written(task, strategy, found, _ELEMENTS[0])
    for elements in _ELEMENTS[1:]:
        for strategy, found in plans:
            yield from _written(task, strategy, found, elements)


def _forms(task: Task) -> Iterator[tuple[tuple[Rule, ...], str]]:
    for number, form in enumerate(rewritings(task)):
        if number == _MOST_FORMS:
            break
        yield form
    yield (), task.definition.reference


def _plan(task: Task, reference: str) -> Plan | None:
    """What can be fused of one form; None when it cannot be followed, or nothing can."""
    definition = task.definition.model_copy(update={"reference": reference})
    try:
        return plan(cleaned(trace(definition, task.workloads)))
    except (NotTraceable, Impure, MustBeStored, TaskError):
        return None


def _written(task: Task, strategy: str, found: Plan, elements: int) -> Iterator[Proposal]:
    whole = f"{strategy}, {elements} values a tile"
    try:
        source = module(found, task.definition, _opening(whole), elements)
    except NotExpressible:
        return
    yield Proposal(whole, source, languages=(Language.TRITON,))


def _strategy(rules: tuple[Rule, ...], found: Plan) -> str:
    calls = len(found.steps) - len(found.kernels)
    names = ", ".join(rule.name for rule in rules)
    by = f", after the rules {names} ({consequence(rules)})" if rules else ""
    return f"{len(found.kernels)} fused kernels between {calls} calls of torch{by}"


def _opening(strategy: str) -> str:
    return f"{strategy[0].upper()}{strategy[1:]}."
