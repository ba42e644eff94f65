"""Programs forked from an interpreter that has imported what they need."""

from collections.abc import Mapping
from pathlib import Path
from types import TracebackType
from typing import Any, Literal, Self

from guard import channel
from guard.channel import ChannelClosed, ChannelTimeout
from guard.program_files import Files, ProgramFailed, no_answer
from guard.runner import ZYGOTE_LIMIT_S, Zygote


class Programs:
    """Runs sandboxed programs like `run_program`, forked from one interpreter: a second of imports each is saved.

    Use as a context manager; it begins to import at once, and waits for that at the first program.
    """

    def __init__(self, scratch: Path, kind: Literal["judging", "programs"] = "programs") -> None:
        self._zygote = Zygote(scratch, kind)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._zygote.close()

    @property
    def is_alive(self) -> bool:
        return self._zygote.is_alive

    def run(
        self,
        module: str,
        request: Mapping[str, Any],
        *,
        limit_s: float,
        scratch: Path,
        sandboxed: bool = True,
    ) -> dict[str, Any]:
        """As `run_program`; whatever the program started ends with it."""
        files = Files(scratch, request)
        warden, theirs = channel.pair()
        mode = "sandboxed" if sandboxed else "open"
        config = {
            "arguments": [mode, module, str(files.ask), str(files.answer)], "log": str(files.log),
            "scratch": str(scratch), "env": {"HOME": str(scratch), "TMPDIR": str(scratch)},
        }  # fmt: skip
        try:
            self._zygote.fork("program", config, (theirs.fileno(),))
            theirs.close()
            channel.receive(warden, ZYGOTE_LIMIT_S)
            ending, _ = channel.receive(warden, limit_s)
        except ChannelTimeout as error:
            raise no_answer(limit_s) from error
        except ChannelClosed as error:
            raise ProgramFailed("died", f"nobody saw how it ended ({error})") from error
        finally:
            warden.close()  # the warden ends the program, if it still runs
        return files.reply(ending["exit"] if ending["signal"] is None else -ending["signal"])
