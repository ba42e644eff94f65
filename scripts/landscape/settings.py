"""Which settings are looked at: those of experience first, then all others or a sample of them."""

import random
from dataclasses import dataclass
from typing import Any

from agents.templates.base import Family, Knob
from tasks.candidate import Candidate
from tasks.solution import Hardware
from tasks.task import Task


@dataclass(frozen=True)
class Setting:
    knobs: dict[str, Knob]
    candidate: Candidate

    @property
    def key(self) -> str:
        return key_of(self.knobs)


def key_of(knobs: dict[str, Any]) -> str:
    return ",".join(f"{name}={knobs[name]}" for name in sorted(knobs))


def settings_of(family: Family, match: Any, task: Task, most: int, seed: int) -> list[Setting]:
    """At most `most`, no two of the same source: of the settings that experience does not name, a seeded sample."""
    space = family.knobs(match)
    others = list(space.settings())
    random.Random(seed).shuffle(others)
    found: dict[str, Setting] = {}
    for knobs in (*space.start, *others):
        if len(found) == most:
            break
        candidate = family.render(match, knobs).candidate(task, family.name, Hardware.LOCAL)
        found.setdefault(candidate.digest, Setting(dict(knobs), candidate))
    return list(found.values())
