"""What the guard and a program that runs once say to each other: two files, and how it went wrong."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any


class ProgramFailed(Exception):
    """A program that was to answer did not; `stage` is `timeout`, `died` or `answer`."""

    def __init__(self, stage: str, message: str) -> None:
        self.stage = stage
        super().__init__(message)


class Files:
    """Where a program finds what it is asked, and leaves its answer."""

    def __init__(self, scratch: Path, request: Mapping[str, Any]) -> None:
        self.ask, self.answer, self.log = (
            scratch / name for name in ("request.json", "reply.json", "program.log")
        )
        self.ask.write_text(json.dumps(request))
        self.answer.unlink(missing_ok=True)

    def reply(self, code: int) -> dict[str, Any]:
        """What a program that ended with `code` answered."""
        if code != 0 or not self.answer.exists():
            said = self.log.read_text(errors="replace").strip().splitlines()
            raise ProgramFailed("died", f"ended with {code}: {said[-1][:500] if said else 'without a word'}")
        try:
            reply: dict[str, Any] = json.loads(self.answer.read_text())
        except ValueError as error:
            raise ProgramFailed("answer", "the answer is no JSON") from error
        return reply


def no_answer(limit_s: float) -> ProgramFailed:
    return ProgramFailed("timeout", f"no answer within {limit_s:.0f} s")
