"""Which protocol judges: the guard's own, with the person's limits, and smaller where nothing is measured."""

from typing import Any, Literal

from guard.protocol import PROTOCOLS, Protocol
from pipeline.settings import Settings
from tasks.effort import Effort
from tasks.task import Task

ProtocolName = Literal["smoke", "search", "final"]

CPU_PROCESSES = {"smoke": 1, "search": 1, "final": 2}
"""A CPU's times decide nothing, so processes there only look for what changes from one to the next."""
CPU_CALLS: dict[str, Any] = {"warmup_calls": 1, "timed_calls": 1, "measured_calls": 2}
CPU_ROUNDS = {"smoke": 2, "search": 2, "final": 10}
"""Of the official correctness rounds; ten make the trace."""


def protocol_for(
    name: ProtocolName, device: Literal["cpu", "cuda"], settings: Settings, task: Task
) -> Protocol:
    """`name` under these settings. What makes a CPU's smaller is part of its digest, and of the evidence.

    On a CPU a candidate may take the memory that the task's own reference is expected to take, where that is
    more than the settings give: else doing what was asked would be held against it.
    """
    chosen: dict[str, Any] = {
        "precision": settings.precision,
        "build_limit_s": settings.build_limit_s,
        "evaluation_limit_s": settings.evaluation_limit_s,
        "host_memory_gib": settings.host_memory_gib,
    }
    if device == "cpu":
        chosen["host_memory_gib"] = max(settings.host_memory_gib, _reference_gib(task))
        chosen |= {"processes": CPU_PROCESSES[name], "official_rounds": CPU_ROUNDS[name], **CPU_CALLS}
    return PROTOCOLS[name].model_copy(update=chosen)


def _reference_gib(task: Task) -> float:
    """GiB for running the reference on the largest workload, with its inputs and outputs.

    The rest is for torch itself and for what it does not give back at once.
    """
    effort = Effort(task.definition)
    needs = (
        effort.memory_bytes(workload.axes) + sum(effort.tensors_bytes(workload.axes))
        for workload in task.workloads
    )
    return round(max(needs, default=0) / 2**30 + 3.5, 1)
