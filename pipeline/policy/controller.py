"""The controller: skill by mode, chosen by gain-aware Thompson sampling with the task and the hardware as context.

Each option has two beliefs: the chance that an attempt improves (Beta) and how much log time an improvement saves
(exponential, its mean inverse-gamma). The option whose draw of chance times gain over cost is largest comes next.
Russo et al. 2018, A Tutorial on Thompson Sampling; evidence for a bandit rather than a model's own choice is in
docs/concepts/search.md.
"""

import random
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field

from agents.skills import SKILLS, Skill, skill_of_agent
from agents.skills.skill import Bound
from pipeline.policy.base import Mode, Option

_GAIN_BELIEF, _GAIN_FIRST = 2.0, 0.1
"""An improvement is thought to save 10 % of the time, as if that had been seen twice."""
_COST_FIRST_S = 10.0
FITTING, UNFITTING = (2.0, 4.0), (1.0, 6.0)
"""Beta priors of skills that suit what limits the task, and of the others."""


@dataclass
class _Belief:
    wins: float
    losses: float
    gains: int = 0
    gained: float = 0.0
    tries: int = 0
    cost_s: float = 0.0

    def draw(self, dice: random.Random) -> float:
        chance = dice.betavariate(self.wins, self.losses)
        mean_gain = (self.gained + _GAIN_BELIEF * _GAIN_FIRST) / dice.gammavariate(
            self.gains + _GAIN_BELIEF, 1.0
        )
        return chance * mean_gain / ((self.cost_s + _COST_FIRST_S) / (self.tries + 1))


@dataclass
class Controller:
    """`free` agents can work by any skill; the others have one of their own, or none."""

    agents: Sequence[str]
    seed: int
    bound: Bound
    capability: tuple[int, int]
    precision: str
    free: Collection[str] = ()
    _beliefs: dict[tuple[str, str | None], _Belief] = field(default_factory=dict)
    _opened: set[str] = field(default_factory=set)
    _turn: int = 0
    _winner: str | None = None

    def __post_init__(self) -> None:
        for agent in self.agents:
            for skill in self._skills(agent):
                fits = skill is not None and self.bound in Skill.load(skill).suits
                self._beliefs[agent, skill] = _Belief(*(FITTING if fits else UNFITTING))

    def next(self, ready: Sequence[str], mode: Mode) -> Option | None:
        """Everybody is asked once, in their order, before beliefs decide. A draft is asked of another than the
        one that made the incumbent, where there is another."""
        self._turn += 1
        for agent in self.agents:
            if agent in ready and agent not in self._opened:
                self._opened.add(agent)
                return self._best([agent], mode)
        others = [agent for agent in ready if agent != self._winner]
        return self._best(others if mode == "draft" and others else ready, mode)

    def learn(self, option: Option, gain: float, cost_s: float) -> None:
        belief = self._beliefs[option.agent, option.skill]
        belief.tries += 1
        belief.cost_s += cost_s
        if gain > 0:
            belief.wins += 1
            belief.gains += 1
            belief.gained += gain
            self._winner = option.agent
        else:
            belief.losses += 1

    def _best(self, agents: Sequence[str], mode: Mode) -> Option | None:
        """Dice are thrown for every option in one order, so that one option more or less moves no other's."""
        dice = random.Random(f"{self.seed}/{self._turn}")
        draws = {key: belief.draw(dice) for key, belief in self._beliefs.items()}
        open_keys = [key for key in draws if key[0] in agents]
        if not open_keys:
            return None
        agent, skill = max(open_keys, key=draws.__getitem__)
        return Option(agent=agent, skill=skill, mode=mode)

    def _skills(self, agent: str) -> list[str | None]:
        if agent not in self.free:
            return [skill_of_agent(agent)]
        return [name for name in SKILLS if Skill.load(name).is_open(self.capability, self.precision)]
