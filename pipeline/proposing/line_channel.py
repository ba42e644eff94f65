"""Lines to and from a process that may answer late, half, too much or never."""

import os
import selectors
import time
from subprocess import Popen

LONGEST_LINE = 16 << 20
_PIECE = 1 << 16


class NoAnswer(Exception):
    """One sentence on why there is none."""


class LineChannel:
    """Over a process's own pipes, which are made not to block: reading and writing wait for each other nowhere."""

    def __init__(self, process: "Popen[bytes]") -> None:
        assert process.stdin is not None and process.stdout is not None
        self._in, self._out = process.stdin.fileno(), process.stdout.fileno()
        os.set_blocking(self._in, False)
        os.set_blocking(self._out, False)
        self._read = bytearray()

    def exchange(self, line: bytes, deadline: float) -> bytes:
        """Write `line` and read one; `deadline` by `time.monotonic`. Raises `NoAnswer`."""
        left = memoryview(line)
        with selectors.DefaultSelector() as waiting:
            waiting.register(self._out, selectors.EVENT_READ)
            waiting.register(self._in, selectors.EVENT_WRITE)
            while left or b"\n" not in self._read:
                until = deadline - time.monotonic()
                if until <= 0:
                    raise NoAnswer("did not answer in time")
                for key, _ in waiting.select(min(until, 0.5)):
                    if key.fd == self._out:
                        self._take()
                    elif left:
                        left = left[self._give(left) :]
                        if not left:
                            waiting.unregister(self._in)
        answer, _, rest = self._read.partition(b"\n")
        self._read = bytearray(rest)
        return bytes(answer)

    def _give(self, left: memoryview) -> int:
        try:
            return os.write(self._in, left[:_PIECE])
        except BlockingIOError:
            return 0
        except OSError:
            raise NoAnswer("ended") from None

    def _take(self) -> None:
        try:
            piece = os.read(self._out, _PIECE)
        except BlockingIOError:
            return
        if not piece:
            raise NoAnswer("ended")
        self._read += piece
        if len(self._read) > LONGEST_LINE:
            raise NoAnswer("answered without end")
