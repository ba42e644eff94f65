"""The order in which a worker gives up its rights, and the name of the level it reached."""

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from guard.sandbox import landlock, limits, seccomp

DEFAULT_LEVELS = {"cpu": "memfd+netns+landlock+seccomp", "cuda": "vm-buffers+netns+landlock+seccomp"}


@dataclass(frozen=True)
class Isolation:
    """What was asked for and reached; `level` is named in every verdict."""

    buffers: str
    features: tuple[str, ...]

    @property
    def level(self) -> str:
        return "+".join((self.buffers, *self.features)) if self.features else "subprocess"


def leave_common_ground(device: Literal["cpu", "cuda"], memory_bytes: int | None) -> tuple[str, ...]:
    """First half: limits and a network of its own. Before any thread exists, so before CUDA starts."""
    limits.set_limits(memory_bytes if device == "cpu" else None)
    reached = ("netns",) if limits.leave_network() else ()
    limits.give_up_privileges(device)
    return reached


def enter(
    device: Literal["cpu", "cuda"],
    readable: list[Path],
    writable: list[Path],
    buffers: str,
    already: tuple[str, ...],
    keepers: tuple[int, ...] = (),
) -> Isolation:
    """Second half, once the device is open: other files and dangerous system calls.

    `keepers` are processes of the guard's, which a worker may not move about either.
    A feature that the kernel lacks is left out and not named.
    """
    features = list(already)
    if landlock.restrict(readable, writable, gpu=device == "cuda"):
        features.append("landlock")
    never = seccomp.NEVER if device == "cuda" else (*seccomp.NEVER, *seccomp.UNCOUNTED_MEMORY)
    filters = (
        seccomp.forbid(never, inet=False),
        seccomp.forbid_ending_oneself(os.getpid()),
        seccomp.forbid_touching_others(keepers),
    )
    if all(filters):
        features.append("seccomp")
    return Isolation(buffers, tuple(features))


def seal() -> None:
    """After the build phase: no new program and no new process; threads remain possible."""
    seccomp.forbid(seccomp.AFTER_BUILD, threads_only=True)
