"""Graphs of definitions, followed in another process: nothing a reference does can hang or fill this one."""

from __future__ import annotations

import atexit
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any, BinaryIO

from tasks.definition import Definition
from tasks.graph.fallback import opaque_graph, scaled_graph
from tasks.graph.model import Graph
from tasks.graph.smaller import smaller_workload
from tasks.graph.zygote import receive, send
from tasks.task import Task
from tasks.workload import Workload

WALL_OF_LIMIT = 4.0
"""Seconds of the clock for one of processor time: on a busy machine a capture may wait as long as it works."""


def capture(task_or_definition: Task | Definition, workload: Workload, *, limit_s: float = 20.0) -> Graph:
    """The graph of the reference at `workload`, within `limit_s` seconds of processor time.

    Followed at the true sizes; where that fails, at smaller ones and scaled; where that fails too, one opaque
    node. `Graph.capture` says which it was, and `Graph.note` why.
    """
    definition, roots = definition_of(task_or_definition)
    found = _ask(definition, workload, roots, limit_s)
    if isinstance(found, Graph):
        return found
    smaller = smaller_workload(definition, workload)
    if smaller is not None:
        second = _ask(definition, smaller, (), limit_s / 2)
        if isinstance(second, Graph):
            return scaled_graph(second, definition, smaller, workload, found)
    return opaque_graph(definition, workload, found)


def definition_of(given: Task | Definition) -> tuple[Definition, tuple[str, ...]]:
    """The definition, and where recorded inputs may lie."""
    if isinstance(given, Task):
        return given.definition, given.blob_roots
    return given, ()


def _ask(definition: Definition, workload: Workload, roots: tuple[str, ...], limit_s: float) -> Graph | str:
    """The graph, or why there is none."""
    request = {
        "definition": definition.model_dump(mode="json"),
        "workload": workload.model_dump(mode="json"),
        "roots": list(roots),
        "limit_s": limit_s,
        "wall_s": limit_s * WALL_OF_LIMIT,
    }
    answer = _Zygote.shared().ask(json.dumps(request).encode())
    if answer is None:
        return "the process that follows references ended"
    if answer.startswith(b'{"failed"'):
        return str(json.loads(answer)["failed"])
    return Graph.model_validate_json(answer)


class _Zygote:
    """The process that `tasks.graph.zygote` runs in, started when it is first needed."""

    _shared: _Zygote | None = None

    def __init__(self) -> None:
        here = str(Path(__file__).resolve().parents[2])
        paths = [here, *os.environ.get("PYTHONPATH", "").split(os.pathsep)]
        environment = {
            **os.environ,
            "PYTHONPATH": os.pathsep.join(p for p in paths if p),
            "OMP_NUM_THREADS": "1",
        }
        self.owner = os.getpid()
        self.process = subprocess.Popen(
            [sys.executable, "-W", "ignore", "-m", "tasks.graph.zygote"],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, env=environment,
        )  # fmt: skip
        atexit.register(self.end)

    @classmethod
    def shared(cls) -> _Zygote:
        """One for this process; a forked child gets its own."""
        if cls._shared is None or cls._shared.owner != os.getpid() or cls._shared.process.poll() is not None:
            cls._shared = cls()
        return cls._shared

    def ask(self, request: bytes) -> bytes | None:
        stdin, stdout = self.process.stdin, self.process.stdout
        assert stdin is not None
        assert stdout is not None
        try:
            send(_binary(stdin), request)
            return receive(_binary(stdout))
        except OSError:
            return None

    def end(self) -> None:
        if self.owner == os.getpid() and self.process.poll() is None:
            self.process.kill()
            self.process.wait()


def _binary(stream: Any) -> BinaryIO:
    return stream  # type: ignore[no-any-return]
