"""A skill is a Markdown file with front matter: what it teaches, and which proposers work by it."""

from functools import cache
from pathlib import Path
from typing import Literal

import yaml

from tasks.value import Value

Bound = Literal["memory", "compute", "launch"]
Need = Literal["tolerance", "sm90", "sm100"]
FOLDER = Path(__file__).parent
SKILLS = (
    "library", "memory", "tensor-core", "fusion", "precision", "reduction", "scheduling", "arch-native",
)  # fmt: skip
"""By name; each has a file."""


class Skill(Value):
    name: str
    agents: tuple[str, ...]
    """That work by it whatever they are told."""
    rules: tuple[str, ...]
    """Of rewriting, by their identifiers."""
    templates: tuple[str, ...]
    """Families of kernels."""
    suits: tuple[Bound, ...]
    """What limits the tasks on which it pays."""
    needs: tuple[Need, ...]
    """`tolerance`: a precision policy that allows less exact arithmetic; `sm90`: a device of at least that kind."""
    text: str
    """For people and language models."""

    @classmethod
    @cache
    def load(cls, name: str) -> "Skill":
        """Raises `ValueError` for a name there is not."""
        if name not in SKILLS:
            raise ValueError(f"there is no skill {name!r}; they are {', '.join(SKILLS)}")
        _, front, text = (FOLDER / f"{name}.md").read_text(encoding="utf-8").split("---\n", 2)
        return cls.model_validate({"name": name, "text": text.strip(), **yaml.safe_load(front)})

    def is_open(self, capability: tuple[int, int], precision: str) -> bool:
        """Whether the hardware and the precision policy let anything come of it."""
        for need in self.needs:
            if need == "tolerance" and precision == "strict":
                return False
            if need.startswith("sm") and capability < (int(need[2:-1]), int(need[-1])):
                return False
        return True


def skill_of_agent(agent: str) -> str | None:
    """The first skill that names `agent`; None for those that are bound to none."""
    return next((name for name in SKILLS if agent in Skill.load(name).agents), None)
