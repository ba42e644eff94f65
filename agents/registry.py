"""Every agent by name; add one by a file and a line here."""

from agents.base import Agent, AgentFactory
from agents.compile import CompileAgent
from agents.cuda_graph import CudaGraphAgent
from agents.library import LibraryAgent
from agents.reference import ReferenceAgent
from agents.rewrite.agent import RewriteAgent
from agents.template import TemplateAgent
from agents.warm_start.starts import Starts
from tasks.solution import Hardware
from tasks.task import Task

AGENTS: dict[str, AgentFactory] = {
    "reference": ReferenceAgent,
    "compile": CompileAgent,
    "library": LibraryAgent,
    "rewrite": RewriteAgent,
    "template": TemplateAgent,
    "cuda_graph": CudaGraphAgent,
}


def create(
    name: str, task: Task, seed: int, *, target: Hardware | str = Hardware.B200, starts: Starts | None = None
) -> Agent:
    """The agent called `name`; `ValueError` lists the names there are. `starts` are for whoever tunes settings."""
    if name not in AGENTS:
        raise ValueError(f"there is no agent {name!r}; the agents are {', '.join(sorted(AGENTS))}")
    if starts and name == TemplateAgent.name:
        return TemplateAgent(task, seed, target=Hardware(target), starts=starts)
    return AGENTS[name](task, seed, target=Hardware(target))
