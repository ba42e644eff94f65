"""Skills: ways to make a kernel faster, as data that rules, templates and language models are bound to."""

from agents.skills.skill import SKILLS, Skill, skill_of_agent

__all__ = ["SKILLS", "Skill", "skill_of_agent"]
