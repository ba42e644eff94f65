"""Which protocol judges: the guard's own, with the person's limits, and smaller where nothing is measured."""

from typing import Any, Literal

from guard.protocol import PROTOCOLS, Protocol
from pipeline.settings import Settings

ProtocolName = Literal["smoke", "search", "final"]

CPU_PROCESSES = {"smoke": 1, "search": 1, "final": 2}
"""A CPU's times decide nothing, so processes there only look for what changes from one to the next."""
CPU_CALLS: dict[str, Any] = {"warmup_calls": 1, "timed_calls": 1, "measured_calls": 2}
CPU_ROUNDS = {"smoke": 2, "search": 2, "final": 10}
"""Of the official correctness rounds; ten make the trace."""


def protocol_for(name: ProtocolName, device: Literal["cpu", "cuda"], settings: Settings) -> Protocol:
    """`name` under these settings. What makes a CPU's smaller is part of its digest, and of the evidence."""
    chosen: dict[str, Any] = {
        "precision": settings.precision,
        "build_limit_s": settings.build_limit_s,
        "evaluation_limit_s": settings.evaluation_limit_s,
        "host_memory_gib": settings.host_memory_gib,
    }
    if device == "cpu":
        chosen |= {"processes": CPU_PROCESSES[name], "official_rounds": CPU_ROUNDS[name], **CPU_CALLS}
    return PROTOCOLS[name].model_copy(update=chosen)
