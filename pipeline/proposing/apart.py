"""A proposer in a process of its own: it may hang, crash or lie, and costs the search an attempt at most."""

import contextlib
import json
import os
import queue
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from concurrent.futures import Future
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from agents.spending import Spent
from agents.warm_start.starts import Starts
from guard.verdict import Verdict
from pipeline.proposing.base import NO_COST, Asked, Ticket, Viewing, checked, printable
from pipeline.proposing.line_channel import LineChannel, NoAnswer
from tasks.candidate import Candidate
from tasks.task import Task

ASK_LIMIT_S = 180.0
START_LIMIT_S = 120.0
_ROOT = Path(__file__).resolve().parents[2]
_PASSED_ON = (
    "PATH",
    "LANG",
    "LC_ALL",
    "LD_LIBRARY_PATH",
    "PYTHONPATH",
    "SOL_EXECBENCH_DATA",
    "OMP_NUM_THREADS",
)
"""Of the environment. Keys stay here: a proposer that needs a model asks for it over its channel."""

ModelCall = Callable[[dict[str, Any]], dict[str, Any]]


class Apart:
    """Asks are answered in order by a thread of its own. A process that failed is started again and hears the
    whole story anew, so that it knows what it knew; agents are deterministic in what they are told."""

    def __init__(
        self,
        name: str,
        task: Task,
        folder: Path,
        seed: int = 0,
        target: str = "B200",
        agent: str | None = None,
        ask_limit_s: float = ASK_LIMIT_S,
        model: ModelCall | None = None,
        model_name: str = "",
        starts: Starts | None = None,
    ) -> None:
        """`folder` is its private one. `agent`: a name of the registry or `module:factory`; `name` by default."""
        self.name, self._task, self._folder = name, task, folder
        self._limit_s, self._model = ask_limit_s, model
        created = {
            "agent": agent or name,
            "name": name,
            "seed": seed,
            "target": target,
            "model_name": model_name,
            "starts": starts,
        }
        self._created = json.dumps({**created, "task": task.model_dump(mode="json")}).encode() + b"\n"
        self._history: list[bytes] = []
        self._tells: list[str] = []
        self._process: subprocess.Popen[bytes] | None = None
        self._jobs: queue.SimpleQueue[tuple[str, str, Future[Asked]] | None] = queue.SimpleQueue()
        self._closing = False
        self._thread: threading.Thread | None = None

    def begin(self, view: Viewing) -> Ticket:
        if self._thread is None:
            self._thread = threading.Thread(target=self._work, name=f"proposer {self.name}", daemon=True)
            self._thread.start()
        answer: Future[Asked] = Future()
        tells, self._tells = ",".join(self._tells), []
        self._jobs.put((tells, view().model_dump_json(), answer))
        return answer.result

    def tell(self, candidate: Candidate, verdict: Verdict, predicted_ms: float | None = None) -> None:
        self._tells.append(
            f'{{"candidate":{candidate.model_dump_json()},"verdict":{verdict.model_dump_json()},'
            f'"predicted_ms":{json.dumps(predicted_ms)}}}'
        )

    def close(self) -> None:
        self._closing = True
        self._end()
        self._jobs.put(None)
        if self._thread is not None:
            self._thread.join(10)
            self._thread = None
        self._end()

    def _work(self) -> None:
        """What a failed ask was told is told again with the next one."""
        untold = ""
        while (job := self._jobs.get()) is not None:
            tells, view, answer = job
            tells = ",".join(filter(None, (untold, tells)))
            number = len(self._history) + 1
            line = f'{{"number":{number},"tells":[{tells}],"view":{view}}}\n'.encode()
            try:
                found = self._ask(line, number)
                self._history.append(line)
                untold = ""
            except NoAnswer as error:
                self._end()
                found, untold = Asked(fault=str(error), forgotten=True), tells
            except Exception as error:  # noqa: BLE001 - whoever waits for the ticket must be answered
                self._end()
                said = printable(f"{type(error).__name__}: {error}")
                found, untold = Asked(fault=said, forgotten=True), tells
            answer.set_result(found)

    def _ask(self, line: bytes, number: int) -> Asked:
        if self._process is None:
            self._start()
            self._parsed(self._channel.exchange(self._created, time.monotonic() + START_LIMIT_S), 0)
            for past, again in enumerate(self._history, 1):
                self._exchange(again, past)
        return self._exchange(line, number)

    def _start(self) -> None:
        if self._closing:
            raise NoAnswer("the search is over")
        self._folder.mkdir(parents=True, exist_ok=True)
        environment = {key: os.environ[key] for key in _PASSED_ON if key in os.environ}
        paths = [str(_ROOT), *filter(None, [environment.get("PYTHONPATH")])]
        private = str(self._folder.resolve())
        self._process = subprocess.Popen(
            [sys.executable, "-m", "pipeline.proposing.child"],
            cwd=private,
            env={**environment, "PYTHONPATH": os.pathsep.join(paths), "HOME": private, "TMPDIR": private},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
        self._channel = LineChannel(self._process)

    def _exchange(self, line: bytes, number: int) -> Asked:
        """One question and its answer, with as many calls of a model in between as the agent makes."""
        deadline = time.monotonic() + self._limit_s
        answer = self._parsed(self._channel.exchange(line, deadline), number)
        while "call" in answer:
            began = time.monotonic()
            reply = self._called(answer["call"])
            deadline += time.monotonic() - began
            answer = self._parsed(self._channel.exchange(reply, deadline), number)
        return self._answered(answer)

    def _called(self, request: Any) -> bytes:
        if self._model is None or not isinstance(request, dict):
            return b'{"error":"this agent has no language model"}\n'
        try:
            return json.dumps({"reply": self._model(request)}).encode() + b"\n"
        except Exception as error:  # noqa: BLE001 - the agent hears of it and may go on
            return json.dumps({"error": printable(f"{type(error).__name__}: {error}")}).encode() + b"\n"

    def _parsed(self, line: bytes, number: int) -> dict[str, Any]:
        try:
            answer = json.loads(line)
        except (ValueError, RecursionError):
            answer = None
        if not isinstance(answer, dict) or answer.get("number") != number:
            raise NoAnswer("answered something else than was asked")
        return answer

    def _answered(self, answer: dict[str, Any]) -> Asked:
        try:
            cost = Spent.model_validate(answer["cost"]) if answer.get("cost") else NO_COST
            if answer.get("fault"):
                return Asked(fault=printable(str(answer["fault"])), cost=cost)
            content = answer.get("candidate")
            candidate = None if content is None else Candidate.model_validate(content)
        except (ValidationError, RecursionError):
            raise NoAnswer("answered with something that is no candidate") from None
        return checked(candidate, self.name, self._task, cost)

    def _end(self) -> None:
        """The process and all that it started."""
        process, self._process = self._process, None
        if process is None:
            return
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        for stream in (process.stdin, process.stdout):
            if stream is not None:
                with contextlib.suppress(OSError):
                    stream.close()
