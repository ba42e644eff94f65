"""The reference process R: makes inputs and expected values, owns the buffers, and compares.

It never runs a line of a candidate, and what it knows never leaves it but as figures and findings.
"""

import json
import os
import random
import socket
import time
from collections.abc import Callable
from pathlib import Path

import torch

from guard import channel
from guard.bank import Bank
from guard.buffers import BUFFERS
from guard.channel import ChannelClosed, ChannelTimeout, Message
from guard.reference_calls import Calls
from guard.reference_values import Values
from guard.working_ahead import WorkingAhead
from tasks.errors import TaskError
from tasks.task import Task

_NULL_BYTES = 4096
_AT_ONCE_S = 0.001


def serve(line: socket.socket, config: Message) -> None:
    """Open the task, say READY, and answer requests until the guard hangs up."""
    try:
        reference = Reference(config, lambda uuid: channel.send(line, {"proving": uuid}))
        channel.send(line, {"ready": reference.facts()}, reference.fds())
    except Exception as error:  # noqa: BLE001 - the definition's code runs here; the guard divides the blame
        channel.send(line, {"fault": _fault(error, config["device"])})
        return
    while True:
        try:
            message = _next(line, reference.ahead)
        except ChannelClosed:
            return
        try:
            answer = reference.answer(message)
        except Exception as error:  # noqa: BLE001 - same border
            answer = {"fault": _fault(error, config["device"])}
        channel.send(line, answer)


def _next(line: socket.socket, ahead: WorkingAhead | None) -> Message:
    """The next request; what can be made ahead of it is made when it is long in coming."""
    limit = ahead.patience_s if ahead is not None else None
    while True:
        try:
            return channel.receive(line, limit)[0]
        except ChannelTimeout:
            more = ahead is not None and ahead.step()
            limit = _AT_ONCE_S if more else None


class Reference:
    """One task on one device."""

    def __init__(self, config: Message, proving: Callable[[str], None] = lambda _: None) -> None:
        task = Task.model_validate_json(Path(config["task"]).read_text())
        self.device = torch.device(config["device"])
        if self.device.type == "cuda":
            torch.cuda.init()
        else:
            torch.set_num_threads(config["threads"])
        self.values = Values(task, self.device, config["inputs"], Bank(config["cache_bytes"]), os.urandom(32))
        began = time.perf_counter()
        self.workloads: list[Message] = []
        for index, workload in enumerate(task.workloads):
            proving(workload.uuid)
            self.workloads.append(self.values.prove(index, config["memory_bytes"]))
        self.proof_s = time.perf_counter() - began
        kind = BUFFERS[self.device.type]
        ring = config["ring_bytes"]
        self.inputs = kind.make(max(w["input_room"] for w in self.workloads))
        self.outputs = kind.make(
            max(max(w["output_room"], min(ring, w["output_room"] * 64)) for w in self.workloads)
        )
        self.ahead = self._working_ahead() if self.device.type == "cpu" else None
        self.calls = Calls(self.values, self.inputs, self.outputs, random.Random(os.urandom(16)))

    def _working_ahead(self) -> WorkingAhead:
        longest = max(w["seconds"] for w in self.workloads)
        return WorkingAhead(
            self.values, longest, max(w["input_bytes"] + w["output_bytes"] for w in self.workloads)
        )

    def facts(self) -> Message:
        libraries = {"torch": str(torch.__version__)}
        if torch.version.cuda:
            libraries["cuda"] = torch.version.cuda
        return {
            "workloads": self.workloads, "input_size": self.inputs.size, "output_size": self.outputs.size,
            "buffers": self.inputs.name, "libraries": libraries, "proof_s": self.proof_s,
            "marks": self.values.marks,
        }  # fmt: skip

    def fds(self) -> tuple[int, int]:
        return self.inputs.fd, self.outputs.fd

    def answer(self, message: Message) -> Message:
        """One request of the guard's; an unknown one is a fault of ours."""
        op = str(message.pop("op"))
        if op in ("null", "null-check"):
            return self._prepare_null() if op == "null" else self._check_null()
        return self.calls.ANSWERS[op](self.calls, **message)

    def _prepare_null(self) -> Message:
        self.inputs.clear()
        self.outputs.clear()
        self._null = torch.randint(0, 256, (_NULL_BYTES,), dtype=torch.uint8)
        self.inputs.raw(0, _NULL_BYTES).copy_(self._null)
        self.outputs.raw(0, _NULL_BYTES).zero_()
        _settle(self.device)
        return {"bytes": _NULL_BYTES}

    def _check_null(self) -> Message:
        return {"same": bool(torch.equal(self.outputs.raw(0, _NULL_BYTES).cpu(), self._null))}


def _settle(device: torch.device) -> None:
    if device.type == "cuda":
        torch.cuda.synchronize()


def _fault(error: Exception, device: str) -> Message:
    """Whose fault it is: a definition's own, or this machine's."""
    kind = "task" if isinstance(error, TaskError) else getattr(error, "blame", "machine")
    text = str(error).strip().split("\n")[0][:500]
    named = (
        text if isinstance(error, TaskError) or hasattr(error, "blame") else f"{type(error).__name__}: {text}"
    )
    return {"kind": kind, "message": named, "device": device}


def main() -> None:
    """`python -m guard.reference TASK.json DEVICE`: prove a task outside of any judgement, for debugging."""
    import sys

    config = {"task": sys.argv[1], "device": sys.argv[2], "inputs": "auto", "cache_bytes": 0, "threads": 1,
              "memory_bytes": 1 << 40, "ring_bytes": 0}  # fmt: skip
    print(json.dumps(Reference(config).facts(), indent=1))  # noqa: T201


if __name__ == "__main__":
    main()
