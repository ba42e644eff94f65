"""Nodes on this machine: one a GPU, or as many as were asked for on a CPU."""

import logging
import os
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import Any, Literal

from pipeline.cluster.node import PREFIX, device_name
from pipeline.device import choose_device, gpu_count
from tasks.errors import TaskError


@contextmanager
def local_nodes(where: str, device: Literal["auto", "cpu", "cuda"] = "auto") -> Iterator[Any]:
    """A scheduler with nodes of its own, `local` or `local:N`; they end with the context."""
    from distributed import Nanny, SpecCluster
    from distributed.scheduler import Scheduler

    chosen = choose_device(device)
    most = gpu_count()[0] if chosen == "cuda" else len(os.sched_getaffinity(0))
    count = _count(where, most)
    resources = {PREFIX + device_name(chosen): 1}
    nodes = {
        number: {
            "cls": Nanny,
            "options": {
                "nthreads": 1,
                "resources": resources,
                "memory_limit": None,  # the guard limits a candidate's memory itself
                "silence_logs": logging.ERROR,
                "env": {"CUDA_VISIBLE_DEVICES": str(number)} if chosen == "cuda" else {},
            },
        }
        for number in range(count)
    }
    scheduler = {
        "cls": Scheduler,
        "options": {"host": "127.0.0.1", "dashboard_address": None, "dashboard": False},
    }
    for name in ("distributed", "distributed.scheduler", "distributed.nanny", "distributed.core"):
        logging.getLogger(name).setLevel(logging.ERROR)
    with ExitStack() as stack:
        yield stack.enter_context(SpecCluster(scheduler=scheduler, workers=nodes, silence_logs=logging.ERROR))


def _count(where: str, most: int) -> int:
    """One a GPU; on a CPU one alone unless told otherwise, since times of neighbours on one CPU disturb each other."""
    _, colon, number = where.partition(":")
    if not colon:
        return most if most and gpu_count()[0] else 1
    if not number.isdecimal() or not 1 <= int(number) <= max(1, most):
        raise TaskError(
            f"{where!r} wants nodes that are not here", field="--cluster", mend=f"at most local:{most}"
        )
    return int(number)
