"""Every call on disk before its reply is used: a campaign is played again from these, without any model."""

import os
from collections import Counter
from pathlib import Path

from pydantic import ValidationError

from agents.language_model.call import Model, ModelFailed, Reply, Request
from tasks.errors import TaskError
from tasks.value import Value


class Call(Value):
    request: Request
    reply: Reply | None = None
    failure: str | None = None
    """Where no reply came; that is remembered too."""


class Recorded:
    """`model` is asked for what is not on record; without one, nothing is."""

    def __init__(self, folder: Path, model: Model | None) -> None:
        self._folder, self._model = folder, model
        self._seen: Counter[str] = Counter()

    def __call__(self, request: Request) -> Reply:
        """The same request made again is another call, with a record of its own."""
        digest = request.digest
        self._seen[digest] += 1
        file = self._folder / f"{digest}-{self._seen[digest]}.json"
        call = self._read(file) or self._made(request, file)
        if call.reply is None:
            raise ModelFailed(call.failure or "no reply")
        return call.reply

    def _made(self, request: Request, file: Path) -> Call:
        if self._model is None:
            raise ModelFailed("this call is not on record")
        try:
            call = Call(request=request, reply=self._model(request))
        except ModelFailed as error:
            call = Call(request=request, failure=str(error))
        self._folder.mkdir(parents=True, exist_ok=True)
        beside = file.with_name(f".{file.name}.part")
        with beside.open("wb") as stream:
            stream.write(call.model_dump_json(indent=1).encode())
            stream.flush()
            os.fsync(stream.fileno())
        beside.replace(file)
        return call

    def _read(self, file: Path) -> Call | None:
        try:
            return Call.model_validate_json(file.read_bytes())
        except FileNotFoundError:
            return None
        except ValidationError:
            raise TaskError("was changed since it was written", file=file, mend="delete it") from None
