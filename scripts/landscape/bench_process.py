"""The timing process from outside: started again when a setting ended it, or does not come to an end."""

import json
import os
import select
import subprocess
import sys
import time
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from tasks.solution import Solution
from tasks.task import Task

_START_S, _ANSWER_S = 180.0, 30.0


class BenchProcess:
    """Use as a context manager; `time` never raises for what a setting does."""

    def __init__(self, task: Task, device: str, timer: str, cache: Path, log: Path) -> None:
        self._told = {"task": task.model_dump(mode="json"), "device": device, "timer": timer}
        self._environment = {**os.environ, "TRITON_CACHE_DIR": str(cache)}
        if device == "cpu":
            self._environment["TRITON_INTERPRET"] = "1"
        self._log, self._process = log, None
        self.restarts = -1

    _process: "subprocess.Popen[bytes] | None"

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._end()

    def time(self, solution: Solution, workload: int, extension: str | None = None) -> dict[str, Any]:
        """`extension`: where a C++ solution was built."""
        began = time.monotonic()
        if self._process is None or self._process.poll() is not None:
            self._start()
        built = {"extension": extension} if extension else {}
        self._say(
            {
                **built, "source": solution.sources[0].content, "function": solution.spec.entry_function,
                "dps": solution.spec.destination_passing_style, "workload": workload,
            }
        )  # fmt: skip
        answer = self._answer(_ANSWER_S)
        if answer is None:
            late = time.monotonic() - began > _ANSWER_S
            self._end()
            return {"failure": "no end" if late else "ended the process", "detail": self._last_words()}
        return answer

    def _start(self) -> None:
        self._end()
        self.restarts += 1
        with self._log.open("ab") as log:
            self._process = subprocess.Popen(
                [sys.executable, "-m", "scripts.landscape.timing"], env=self._environment,
                stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=log,
            )  # fmt: skip
        self._say(self._told)
        if self._answer(_START_S) is None:
            raise RuntimeError(f"the timing process does not start: {self._last_words()}")

    def _say(self, what: dict[str, Any]) -> None:
        assert self._process is not None and self._process.stdin is not None
        try:
            self._process.stdin.write(json.dumps(what).encode() + b"\n")
            self._process.stdin.flush()
        except BrokenPipeError:
            pass  # it is gone, and will not answer

    def _answer(self, limit_s: float) -> dict[str, Any] | None:
        """A line within the limit; None when there is none."""
        assert self._process is not None and self._process.stdout is not None
        ready, _, _ = select.select([self._process.stdout], [], [], limit_s)
        line = self._process.stdout.readline() if ready else b""
        if not line:
            return None
        answer: dict[str, Any] = json.loads(line)
        return answer

    def _end(self) -> None:
        if self._process is not None:
            self._process.kill()
            self._process.wait()
            self._process = None

    def _last_words(self) -> str:
        words = self._log.read_bytes()[-2000:].decode(errors="replace") if self._log.exists() else ""
        return " | ".join(words.strip().splitlines()[-3:])[:300]
