"""Any coding command as a model: it is run in an empty folder and may answer on stdout or write `solution.py`."""

import contextlib
import os
import shutil
import signal
import subprocess
from pathlib import Path

from agents.language_model.call import ModelFailed, Prices, Reply, Request, guessed_tokens

PROMPT, SOLUTION = "prompt.md", "solution.py"
_LARGEST_BYTES = 2 << 20


class Command:
    """It sees the prompt on stdin and as a file, and nothing of the run. It is ended with all that it started."""

    def __init__(
        self, arguments: tuple[str, ...], scratch: Path, prices: Prices, limit_s: float = 600.0
    ) -> None:
        self._arguments, self._scratch = arguments, scratch
        self._prices, self._limit_s = prices, limit_s

    def __call__(self, request: Request) -> Reply:
        prompt = "\n\n".join(message.content for message in request.messages)
        folder = self._scratch / request.digest[:16]
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        (folder / PROMPT).write_text(prompt, encoding="utf-8")
        try:
            said, is_whole = self._run(folder, prompt)
            text = _written(folder) or said
        finally:
            shutil.rmtree(folder, ignore_errors=True)
        spent = self._prices.spent(guessed_tokens(prompt), guessed_tokens(text))
        return Reply(text=text, finish="stop" if is_whole else "cut", spent=spent, counted=False)

    def _run(self, folder: Path, prompt: str) -> tuple[str, bool]:
        """What it printed, and whether it came to an end by itself."""
        output = folder / ".output"
        with output.open("wb") as stream:
            try:
                process = subprocess.Popen(
                    self._arguments, cwd=folder, stdin=subprocess.PIPE, stdout=stream,
                    stderr=subprocess.DEVNULL, start_new_session=True,
                )  # fmt: skip
            except OSError as error:
                raise ModelFailed(f"the command cannot be started ({error.strerror})") from None
            try:
                process.communicate(prompt.encode(), timeout=self._limit_s)
                is_whole = True
            except subprocess.TimeoutExpired:
                is_whole = False
            finally:
                with contextlib.suppress(ProcessLookupError):
                    os.killpg(process.pid, signal.SIGKILL)
                process.wait()
        with output.open("rb") as stream:
            return stream.read(_LARGEST_BYTES).decode(errors="replace"), is_whole


def _written(folder: Path) -> str:
    file = folder / SOLUTION
    if not file.is_file() or file.is_symlink() or file.stat().st_size > _LARGEST_BYTES:
        return ""
    return f"```python\n{file.read_text(encoding='utf-8', errors='replace')}\n```"
