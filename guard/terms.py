"""On what terms two candidates are measured against each other: how often, by which rule, for what use."""

from typing import Literal

from pydantic import Field

from guard.comparison import FIXED, GATE, Rule
from guard.protocol import FINAL, SEARCH, SMOKE, Protocol
from tasks.value import Value, digest_of

TermsName = Literal["screen", "search", "final", "gate"]


class Terms(Value):
    """Declared before the first process runs. Results on other terms are never pooled with these."""

    name: TermsName
    rule: Rule | None
    """None for a screen: two processes an arm can show nothing but that a candidate is clearly slower."""
    processes: int
    """An arm, at most."""
    process: Protocol
    """What each process does; its own number of processes plays no part."""
    cut_warm_up: bool = Field(default=False, exclude_if=lambda cut: not cut)
    """Whether locations leave out what `steady_part` cuts; not so in files from before there was such a cut."""
    second_opinion: bool = Field(default=False, exclude_if=lambda asked: not asked)
    """Whether arms are also compared at one clock where clocks wandered; not so in older files."""

    @property
    def digest(self) -> str:
        return digest_of(self.model_dump(mode="json"))


_CPU_CALLS = 20
"""On a CPU the checked calls are the timed ones."""
_ALL: dict[TermsName, Terms] = {
    "screen": Terms(
        name="screen", rule=None, processes=2, cut_warm_up=True, second_opinion=True,
        process=SMOKE.model_copy(update={"official_rounds": 2, "measured_calls": 2}),
    ),
    "search": Terms(
        name="search", rule=Rule(looks=(8,), shares=(1.0,)), processes=8, cut_warm_up=True, second_opinion=True,
        process=SEARCH.model_copy(update={"official_rounds": 2, "measured_calls": 2}),
    ),
    "final": Terms(
        name="final", rule=FIXED, processes=10, cut_warm_up=True, second_opinion=True,
        process=FINAL.model_copy(update={"measured_calls": 2}),
    ),
    "gate": Terms(
        name="gate", rule=GATE, processes=20, cut_warm_up=True, second_opinion=True,
        process=FINAL.model_copy(update={"measured_calls": 2}),
    ),
}  # fmt: skip


def terms_for(name: TermsName, device: Literal["cpu", "cuda"], paired: bool = False) -> Terms:
    """The terms of that name on a device. `paired` declares processes of one number pairs, for clocks that wander."""
    terms = _ALL[name]
    if device == "cpu":
        calls = terms.process.model_copy(update={"measured_calls": _CPU_CALLS})
        terms = terms.model_copy(update={"process": calls})
    if paired and terms.rule is not None:
        terms = terms.model_copy(update={"rule": terms.rule.model_copy(update={"paired": True})})
    return terms
