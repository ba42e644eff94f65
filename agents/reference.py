"""The definition's own code as a candidate: what every other candidate has to beat."""

from agents.listed import ListedAgent
from agents.proposal import Proposal
from agents.reading.reachable import reachable_source
from tasks.solution import Hardware
from tasks.task import Task


class ReferenceAgent(ListedAgent):
    """Proposes once: the reference, without the functions that only make inputs."""

    def __init__(self, task: Task, seed: int, *, target: Hardware = Hardware.B200) -> None:
        source = reachable_source(task.definition.reference, "run")
        super().__init__("reference", task, [Proposal("the reference as it is defined", source)], target)
