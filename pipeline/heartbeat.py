"""A sign of life while one candidate is judged: what is being done, and for how many seconds already."""

import threading
import time
from collections.abc import Callable
from types import TracebackType
from typing import Self

EVERY_S = 15.0


class Heartbeat:
    """Use as a context manager; says nothing as long as steps follow each other faster than `every_s`."""

    def __init__(self, say: Callable[[str], None], doing: str, every_s: float = EVERY_S) -> None:
        self._say, self._doing, self._every_s = say, doing, every_s
        self._since = self._spoke = time.monotonic()
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._beat, daemon=True)

    def note(self, doing: str) -> None:
        """The next step, whatever came before."""
        self._doing = doing
        self._since = self._spoke = time.monotonic()

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._over.set()
        self._thread.join()

    def _beat(self) -> None:
        while not self._over.wait(self._every_s / 10):
            now = time.monotonic()
            if now - self._spoke >= self._every_s:
                self._spoke = now
                self._say(f"still at it: {self._doing}, for {now - self._since:.0f} s")
