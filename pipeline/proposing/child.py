"""`python -m pipeline.proposing.child`: one agent in a process that can read, think and answer, and nothing else.

One JSON line in, one out. Before the agent's code is imported the process gives up the network, every file but
Python's and this checkout's, writing outside its own folder, and starting processes. What an agent prints goes to
nobody: the channel is a descriptor that no `print` reaches.
"""

import importlib
import json
import os
from functools import partial
from pathlib import Path
from typing import IO, Any

from guard.sandbox.seal import enter, leave_common_ground, seal

MODEL_AGENT = "model"
_LARGEST_BYTES = 8 << 30


def main() -> None:
    channel = os.fdopen(os.dup(1), "wb")
    silence = os.open(os.devnull, os.O_WRONLY)
    for stream in (1, 2):
        os.dup2(silence, stream)
    requests = os.fdopen(os.dup(0), "rb")
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    _retire(Path.cwd())
    created = json.loads(requests.readline())
    _serve(created, requests, channel)


def _retire(folder: Path) -> None:
    """`folder` is all that may be written."""
    already = leave_common_ground("cpu", _LARGEST_BYTES)
    checkout = Path(__file__).resolve().parents[2]
    enter("cpu", [checkout, folder], [folder], "proposer", already)
    seal()


def _serve(created: dict[str, Any], requests: IO[bytes], channel: IO[bytes]) -> None:
    from agents.memory import View
    from guard.verdict import Verdict
    from pipeline.proposing.inside import asked_of, told
    from tasks.candidate import Candidate
    from tasks.task import Task

    task = Task.model_validate(created["task"])
    number = 0

    def model(request: dict[str, Any]) -> dict[str, Any]:
        """A language model is asked by the search itself: keys and the network are not here."""
        _say(channel, {"number": number, "call": request})
        answer = json.loads(requests.readline())
        if "error" in answer:
            raise RuntimeError(answer["error"])
        return dict(answer["reply"])

    agent = _agent(created, task, model)
    _say(channel, {"number": 0})
    for line in requests:
        asked = json.loads(line)
        number, ailment = asked["number"], None
        for tell in asked["tells"]:
            candidate = Candidate.model_validate(tell["candidate"])
            verdict = Verdict.model_validate(tell["verdict"])
            ailment = told(agent, candidate, verdict, tell["predicted_ms"]) or ailment
        if ailment is not None:
            _say(channel, {"number": number, "fault": ailment})
            continue
        view = View.model_validate(asked["view"])
        answer = asked_of(agent, created["name"], partial(View.model_copy, view), task)
        _say(
            channel,
            {
                "number": number,
                "candidate": answer.candidate.model_dump(mode="json") if answer.candidate else None,
                "fault": answer.fault,
                "cost": answer.cost.model_dump(),
            },
        )


def _agent(created: dict[str, Any], task: Any, model: Any) -> Any:
    """By its name in the registry, or `package.module:factory` of anybody's."""
    if created["agent"] == MODEL_AGENT:
        return _model_agent(created, task, model)
    module, _, factory = created["agent"].partition(":")
    if factory:
        made = getattr(importlib.import_module(module), factory)
        return made(task, created["seed"], target=created["target"])
    from agents.registry import create

    return create(
        created["agent"], task, created["seed"], target=created["target"], starts=created.get("starts")
    )


def _model_agent(created: dict[str, Any], task: Any, model: Any) -> Any:
    from agents.language_model import LanguageModelAgent, Reply
    from tasks.solution import Hardware

    return LanguageModelAgent(
        task,
        created["seed"],
        target=Hardware(created["target"]),
        model=lambda request: Reply.model_validate(model(request.model_dump(mode="json"))),
        model_name=created["model_name"],
    )


def _say(channel: IO[bytes], content: dict[str, Any]) -> None:
    channel.write(json.dumps(content).encode() + b"\n")
    channel.flush()


if __name__ == "__main__":
    main()
