"""What a campaign was asked for, and what it keeps of each step."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

Row = dict[str, Any]
Key = tuple[str, str, int]
"""Step, task, number: what names a row."""


@dataclass(frozen=True)
class Asked:
    """What stood on the command line."""

    names: tuple[str, ...]
    """Shipped tasks, or folders."""
    agent: str
    sentinels: tuple[str, ...]
    injected: str
    injection: float
    delayed: str
    dose: float
    repeats: int
    workloads: int
    processes: int | None
    """Of a sentinel's judgement; None: the final protocol's."""
    champion_processes: int | None
    snapshots: Path
