"""Who proposes: agents that ask for nothing but a task and are told nothing but verdicts."""

from agents.base import Agent
from agents.registry import AGENTS, create

__all__ = ["AGENTS", "Agent", "create"]
