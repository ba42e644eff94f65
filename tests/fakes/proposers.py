"""Agents that misbehave, to be run in processes of their own: `tests.fakes.proposers:hanging` and so on."""

import os
import time
from pathlib import Path
from typing import Any

from agents.memory import View
from tasks.candidate import Candidate
from tests.fakes.agents import Climber, ListAgent
from tests.fakes.task import candidate


def climber(task: Any, seed: int, **_: Any) -> Climber:
    return Climber(steps=12)


def honest(task: Any, seed: int, **_: Any) -> ListAgent:
    return ListAgent("honest", [f"accepted {9 - i}" for i in range(8)])


class _Acting(ListAgent):
    def __init__(self, act: Any) -> None:
        super().__init__("acting", [f"accepted 1{i}" for i in range(30)])
        self._act = act

    def ask(self) -> Candidate | None:
        return self._act(super().ask())


def hanging(task: Any, seed: int, **_: Any) -> Any:
    return _Acting(lambda _: time.sleep(1000))


def crashing(task: Any, seed: int, **_: Any) -> Any:
    return _Acting(lambda _: os._exit(7))


def raising(task: Any, seed: int, **_: Any) -> Any:
    return _Acting(lambda _: [][1])


def dead_on_arrival(task: Any, seed: int, **_: Any) -> Any:
    raise ImportError("no such library")


def garbage(task: Any, seed: int, **_: Any) -> Any:
    return _Acting(lambda _: {"solution": "a kernel, trust me"})


def shouting(task: Any, seed: int, **_: Any) -> Any:
    """Writes nonsense over every descriptor there is, the search's own channel among them."""

    def act(asked: Candidate | None) -> Candidate | None:
        for stream in range(3, 12):
            try:
                os.write(stream, b'{"number": 1, "candidate": {"agent": "\x1b[2J"}}\n' * 3)
            except OSError:
                continue
        return asked

    return _Acting(act)


def impostor(task: Any, seed: int, **_: Any) -> Any:
    """Says that it is somebody else, in escape codes, and for another definition every second time."""

    def act(asked: Candidate | None) -> Candidate | None:
        impostor.turns += 1  # type: ignore[attr-defined]
        other = {"definition_digest": "0" * 64} if impostor.turns % 2 else {}  # type: ignore[attr-defined]
        return asked and asked.model_copy(
            update={"agent": "honest", "strategy": "\x1b[31m\nred\x07", **other}
        )

    impostor.turns = 0  # type: ignore[attr-defined]
    return _Acting(act)


class Vandal:
    """Tries to write wherever it can reach, starts processes, and reports by strategy what succeeded."""

    name = "vandal"

    def __init__(self, targets: list[str]) -> None:
        self._targets, self._asked = targets, 0

    def see(self, view: View) -> None:
        for sibling in view.siblings:
            object.__setattr__(sibling, "latency_ms", 0.0)

    def ask(self) -> Candidate | None:
        self._asked += 1
        return candidate(f"accepted {20 + self._asked} did {', '.join(self._successes()) or 'nothing'}")

    def tell(self, *_: Any, **__: Any) -> None:
        return None

    def _successes(self) -> list[str]:
        import sqlite3
        import subprocess

        found = []
        for target in self._targets:
            for verb, act in (
                ("write", lambda t: os.truncate(t, 1)),
                ("append", lambda t: os.close(os.open(t, os.O_WRONLY | os.O_APPEND))),
                ("remove", lambda t: Path(t).unlink()),
                ("rename", lambda t: Path(t).rename(t + ".gone")),
                ("create", lambda t: Path(t + "-beside").write_text("x")),
                ("insert", lambda t: sqlite3.connect(t).execute("DELETE FROM best").connection.commit()),
            ):
                try:
                    act(target)
                except Exception:  # noqa: BLE001 - being refused is what is hoped for
                    continue
                found.append(f"{verb} {target}")
        try:
            subprocess.run(["/bin/true"], check=False)
            found.append("spawn")
        except OSError:
            pass
        if any(key.endswith("KEY") for key in os.environ):
            found.append("key")
        return found


def vandal(task: Any, seed: int, **_: Any) -> Any:
    """Its targets stand in its own folder, which it may read."""
    return Vandal(Path("targets.txt").read_text().splitlines())
