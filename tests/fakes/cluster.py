"""Judges for worker nodes: verdicts of the fake guard, a line a judgement, and nodes that end at a word."""

import os
import time
from pathlib import Path

from guard.protocol import Protocol
from guard.verdict import Verdict
from pipeline.cluster.node import device_name
from tasks.candidate import Candidate
from tasks.errors import TaskError
from tasks.task import Task
from tests.fakes.judge import CPU, behaviour_of, fake_judge

LOG = "KERNELARC_TEST_LOG"


def faked(task: Task, candidate: Candidate, protocol: Protocol, device: str, inputs: str) -> Verdict:
    """As the fake guard judges, on a device of this machine's name; `ends the node`, `wrong task`, `works`."""
    behaviour = behaviour_of(candidate)
    log = os.environ.get(LOG)
    if log:
        with Path(log).open("a") as file:
            file.write(f"{os.getpid()} {candidate.digest}\n")
    if "ends the node" in behaviour:
        os._exit(1)
    if "wrong task" in behaviour:
        raise TaskError("is no task for this test")
    if "works" in behaviour:
        until = time.process_time() + 0.15
        while time.process_time() < until:
            pass
    environment = CPU.model_copy(update={"device": device_name("cpu")})
    return fake_judge(task, candidate, protocol, environment)
