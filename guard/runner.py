"""The one module that starts processes: zygotes, and programs that run once and answer with a file."""

import contextlib
import functools
import os
import signal
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal

from guard import channel
from guard.channel import ChannelClosed
from guard.errors import GuardBroken
from guard.program_files import Files, no_answer

ROOT = Path(__file__).resolve().parent.parent
ZYGOTE_LIMIT_S = 180.0
_PASSED_ON = (
    "PATH", "LANG", "LC_ALL", "LD_LIBRARY_PATH", "LIBRARY_PATH", "CPATH", "CUDA_HOME", "CUDA_PATH",
    "CUDA_VISIBLE_DEVICES", "PYTHONPATH", "VIRTUAL_ENV", "OMP_NUM_THREADS", "CC", "CXX", "MAX_JOBS",
)  # fmt: skip


def clean_environment(home: Path, extra: Mapping[str, str] | None = None) -> dict[str, str]:
    """What a process of the guard is told of the outside: an allow-list, and a home of its own."""
    kept = {name: os.environ[name] for name in _PASSED_ON if name in os.environ}
    own = {
        "HOME": str(home),
        "TMPDIR": str(home),
        "TORCHINDUCTOR_COMPILE_THREADS": "1",
        "PYTHONNOUSERSITE": "1",
    }
    return {**kept, **own, **(extra or {})}


@functools.cache
def cpp_compiler_major() -> int:
    """Major version of the C++ compiler that a candidate would find; 0 where there is none."""
    command = [os.environ.get("CXX", "g++"), "-dumpversion"]
    try:
        said = subprocess.run(command, capture_output=True, text=True, timeout=10, check=True).stdout
        return int(said.split(".")[0])
    except (OSError, ValueError, subprocess.SubprocessError):
        return 0


class Zygote:
    """A process that forks others from an interpreter with torch, and what their kind needs, already imported."""

    def __init__(self, scratch: Path, kind: Literal["judging", "programs"] = "judging") -> None:
        self._line, theirs = channel.pair()
        self._log = (scratch / "zygote.log").open("wb")
        self._process = subprocess.Popen(
            [sys.executable, "-m", "guard.zygote", str(theirs.fileno()), kind],
            cwd=ROOT, env=clean_environment(scratch), pass_fds=(theirs.fileno(),),
            stdin=subprocess.DEVNULL, stdout=self._log, stderr=self._log, start_new_session=True,
        )  # fmt: skip
        theirs.close()
        self._is_ready = False
        self._scratch = scratch

    @property
    def pid(self) -> int:
        return self._process.pid

    @property
    def is_alive(self) -> bool:
        return self._process.poll() is None

    def wait(self) -> None:
        """Until it can fork. `GuardBroken` when it cannot start."""
        if self._is_ready:
            return
        try:
            channel.receive(self._line, ZYGOTE_LIMIT_S)
        except ChannelClosed as error:
            said = (self._scratch / "zygote.log").read_text(errors="replace").strip().splitlines()
            raise GuardBroken(
                f"the guard's own process does not start: {said[-1] if said else error}"
            ) from error
        self._is_ready = True

    def fork(self, role: str, config: Mapping[str, Any], fds: tuple[int, ...]) -> None:
        """Ask for one child; it answers on the first of `fds`."""
        self.wait()
        try:
            channel.send(self._line, {"role": role, **config}, fds)
        except ChannelClosed as error:
            raise GuardBroken(f"the guard's own process is gone: {error}") from error

    def close(self) -> None:
        self._line.close()
        try:
            self._process.wait(5)
        except subprocess.TimeoutExpired:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(self._process.pid, signal.SIGKILL)
            self._process.wait()
        self._log.close()


def run_program(
    module: str,
    request: Mapping[str, Any],
    *,
    limit_s: float,
    scratch: Path,
    sandboxed: bool = True,
    env: Mapping[str, str] | None = None,
) -> dict[str, Any]:
    """Run `python -m module request.json reply.json` once and return the reply.

    It runs in a process group of its own that is killed at the limit; with `sandboxed` it sees no network
    and no files but the system's and `scratch`. Raises `ProgramFailed`; whose fault that is, the caller knows.
    """
    files = Files(scratch, request)
    command = [sys.executable, "-m", "guard.program", "sandboxed" if sandboxed else "open", module]
    with files.log.open("wb") as out:
        process = subprocess.Popen(
            [*command, str(files.ask), str(files.answer)], cwd=ROOT, env=clean_environment(scratch, env),
            stdin=subprocess.DEVNULL, stdout=out, stderr=out, start_new_session=True,
        )  # fmt: skip
        try:
            code = process.wait(limit_s)
        except subprocess.TimeoutExpired as error:
            raise no_answer(limit_s) from error
        finally:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()
    return files.reply(code)
