"""Who proposes: agents that ask for nothing but a task and are told nothing but verdicts."""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from agents.base import Agent
    from agents.registry import AGENTS, create

__all__ = ["AGENTS", "Agent", "create"]


def __getattr__(name: str) -> Any:
    """The agents themselves are imported when one is wanted; what they share is had without them."""
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from agents import base, registry

    return base.Agent if name == "Agent" else getattr(registry, name)
