"""The process in which references are followed: one child for each, which can be ended whatever it does.

`python -m tasks.graph.zygote` reads requests from stdin and answers on stdout, each a length and then JSON. It
imports torch once, and starts no thread, so that its children can be forked.
"""

from __future__ import annotations

import json
import os
import resource
import select
import signal
import struct
import sys
import time
from typing import Any, BinaryIO

MEMORY_LIMIT = 6 * 2**30
"""Address space of a child, most of which is torch's libraries and never touched."""


def send(stream: BinaryIO, message: bytes) -> None:
    stream.write(struct.pack("<Q", len(message)) + message)
    stream.flush()


def receive(stream: BinaryIO) -> bytes | None:
    """The next message; `None` at the end."""
    head = stream.read(8)
    if len(head) < 8:
        return None
    length = struct.unpack("<Q", head)[0]
    message = stream.read(length)
    return message if len(message) == length else None


def main() -> None:
    requests, answers = sys.stdin.buffer, os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # what a reference prints is no answer
    import torch

    torch.set_num_threads(1)
    _warm_up()
    while (message := receive(requests)) is not None:
        send(answers, _answer(json.loads(message)))


def _warm_up() -> None:
    """Follow a small reference here, so that children find loaded what torch's shape rules import."""
    from tasks.definition import Definition
    from tasks.graph.follow import graph_here
    from tasks.workload import Workload

    vector = {"shape": ["n"], "dtype": "float32"}
    definition = {
        "name": "warm_up", "axes": {"n": {"type": "var"}}, "inputs": {"x": vector}, "outputs": {"y": vector},
        "reference": "import torch\ndef run(x):\n    return (x + x[:1].logsumexp(0)).softmax(0)\n",
    }  # fmt: skip
    workload = {"uuid": "warm-up", "axes": {"n": 8}, "inputs": {"x": {"type": "random"}}}
    graph_here(Definition.model_validate(definition), Workload.model_validate(workload), limit_s=60)


def _answer(request: dict[str, Any]) -> bytes:
    """What a child made of the request, or which end it came to."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reading)
        _child(request, writing)
    os.close(writing)
    answer = _read_until(reading, time.monotonic() + request["wall_s"])
    os.close(reading)
    os.kill(child, signal.SIGKILL)
    _, status = os.waitpid(child, 0)
    if answer is None:
        return json.dumps({"failed": f"it took more than {request['wall_s']:g} seconds"}).encode()
    return answer or json.dumps({"failed": f"its process ended (status {status})"}).encode()


def _read_until(reading: int, deadline: float) -> bytes | None:
    """All that is written before the pipe is closed; `None` when that is not in time."""
    parts: list[bytes] = []
    while (left := deadline - time.monotonic()) > 0:
        if not select.select([reading], [], [], left)[0]:
            break
        part = os.read(reading, 2**20)
        if not part:
            return b"".join(parts)
        parts.append(part)
    return None


def _child(request: dict[str, Any], writing: int) -> None:
    """Never returns."""
    try:
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY_LIMIT, MEMORY_LIMIT))
        from tasks.graph.follow import answer

        message: bytes = answer(request)
    except BaseException as error:  # noqa: BLE001 - whatever the reference raises is an answer
        said = (str(error).strip().splitlines() or [""])[0]
        message = json.dumps({"failed": f"{type(error).__name__}: {said[:300]}"}).encode()
    with os.fdopen(writing, "wb") as stream:
        stream.write(message)
    os._exit(0)


if __name__ == "__main__":
    main()
