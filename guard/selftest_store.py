"""What a self-test found so far, kept part by part: a stop loses nothing, and several cards may share the work."""

import contextlib
import fcntl
import json
import os
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from hashlib import sha256
from pathlib import Path

from pydantic import ValidationError

from guard.selftest_result import Row
from tasks.errors import TaskError
from tasks.whole_file import write_whole

COMMAND = "python -m pipeline guard selftest"


class Store:
    """Rows in memory, or in a JSON file that is written anew after each, whole or not at all."""

    def __init__(self, path: Path | None = None) -> None:
        self._path = path.resolve() if path is not None else None
        self._own: list[Row] = []
        self.rows()  # a file that is something else is refused before anything is measured

    def rows(self) -> tuple[Row, ...]:
        """Those of other processes among them; `TaskError` where the file is none of ours."""
        if self._path is None or not self._path.exists():
            return tuple(self._own)
        try:
            return tuple(Row.model_validate(row) for row in json.loads(self._path.read_text())["rows"])
        except (OSError, ValueError, KeyError, TypeError, ValidationError) as error:
            said = str(error).splitlines()[0]
            raise TaskError(
                f"holds no self-test ({said})", file=self._path, mend="name another file"
            ) from None

    def keep(self, row: Row) -> None:
        """`TaskError` when it cannot be written."""
        if self._path is None:
            self._own.append(row)
            return
        with self._locked("file"):
            content = json.dumps({"command": COMMAND, "rows": _plain([*self.rows(), row])}, indent=1)
            try:
                write_whole(self._path, content.encode())
            except OSError as error:
                raise TaskError(
                    f"cannot be written ({error.strerror})", file=self._path, mend="check the path"
                ) from None

    @contextmanager
    def claim(self, part: str) -> Iterator[bool]:
        """Whether `part` is ours to run: nobody has it in hand, and nobody has kept it. Death frees what it held."""
        if self._path is None:
            yield part not in {row.part for row in self.rows()}
            return
        with contextlib.ExitStack() as held:
            try:
                held.enter_context(self._locked(part, fcntl.LOCK_NB))
            except BlockingIOError:
                yield False
                return
            yield part not in {row.part for row in self.rows()}

    @contextmanager
    def _locked(self, what: str, how: int = 0) -> Iterator[None]:
        """By a file beside no result: in the folder for temporary ones, named after the result's path."""
        name = sha256(f"{self._path}:{what}".encode()).hexdigest()[:16]
        lock = os.open(
            Path(tempfile.gettempdir()) / f"kernelarc-selftest-{name}.lock", os.O_RDWR | os.O_CREAT, 0o666
        )
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | how)
            yield
        finally:
            os.close(lock)


def _plain(rows: Sequence[Row]) -> list[dict[str, object]]:
    return [row.model_dump(mode="json", exclude_none=True) for row in rows]
