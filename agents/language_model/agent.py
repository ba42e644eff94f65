"""The agent that asks a language model. It believes no reply: the guard judges, and what cannot be read is a fault."""

from agents.language_model.call import Model, ModelFailed, Request
from agents.language_model.parse import Unusable, proposal_in
from agents.language_model.prompt import messages
from agents.memory import View
from agents.spending import Spent
from guard.verdict import Verdict
from tasks.candidate import Candidate
from tasks.solution import Hardware
from tasks.task import Task

NAME = "model"
MAX_TOKENS = 12_000
TEMPERATURE = 0.8
_LONGEST_MESSAGE = 600


class LanguageModelAgent:
    """Deterministic in the task, what it is shown and told, and the model's replies, which are on record.

    One ask is one call. A reply of which nothing can be made raises: the search counts it as an attempt, and the
    next prompt says what was wrong with it.
    """

    name = NAME

    def __init__(self, task: Task, seed: int, *, target: Hardware, model: Model, model_name: str) -> None:
        self._task, self._target = task, target
        self._model, self._model_name = model, model_name
        self._view, self._last = View(), ""
        self._spent = Spent()
        self._mine: set[str] = set()

    def see(self, view: View) -> None:
        self._view = view

    def ask(self) -> Candidate | None:
        request = Request(
            model=self._model_name,
            messages=messages(self._task, self._target, self._view, self._last),
            max_tokens=MAX_TOKENS,
            temperature=TEMPERATURE,
        )
        reply = self._model(request)
        self._spent = self._spent + reply.spent
        if reply.finish == "refused":
            self._last = "you refused; the request is a plain matter of numerical code"
            raise ModelFailed("the model refused")
        try:
            proposal = proposal_in(reply.text)
        except Unusable as error:
            cut = ", and it was cut off" if reply.finish in ("length", "cut") else ""
            self._last = f"nothing could be made of it: {error}{cut}"
            raise
        candidate = proposal.candidate(self._task, self.name, self._target)
        self._mine.add(candidate.digest)
        return candidate

    def tell(self, candidate: Candidate, verdict: Verdict, predicted_ms: float | None = None) -> None:
        if candidate.digest not in self._mine:
            return
        if verdict.reason is not None:
            said = f"rejected ({verdict.reason.code}): {verdict.reason.message[:_LONGEST_MESSAGE]}"
        else:
            said = "right" if predicted_ms is None else f"right, {predicted_ms:.4g} ms predicted"
        again = " again, which costs an attempt; propose something new" if self._last.startswith(said) else ""
        self._last = f"{said}{again}: {candidate.strategy}"

    def take_spent(self) -> Spent:
        spent, self._spent = self._spent, Spent()
        return spent
