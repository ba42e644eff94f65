"""A session: one device, and what may be kept on it between candidates."""

from pathlib import Path
from types import TracebackType
from typing import Literal, Self


class Session:
    """Use as a context manager; leaving it ends every process it started and removes its scratch folder."""

    def __init__(self, device: Literal["cpu", "cuda"], scratch: Path | None = None) -> None:
        self.device, self.scratch = device, scratch

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        return None
