"""Resource limits, namespaces and privileges, through the C library alone."""

import contextlib
import ctypes
import os
import resource
import struct
from pathlib import Path
from typing import Literal

_CLONE_NEWUSER, _CLONE_NEWNET, _CLONE_NEWIPC = 0x10000000, 0x40000000, 0x08000000
_PR_SET_PDEATHSIG, _PR_SET_DUMPABLE, _PR_SET_NO_NEW_PRIVS, _PR_SET_CHILD_SUBREAPER = 1, 4, 38, 36
_LARGEST_FILE = 1 << 30
_OPEN_FILES = 4096
_CAPGET, _CAPSET, _CAPABILITIES_V3 = 125, 126, 0x20080522
_DAC_OVERRIDE, _DAC_READ_SEARCH, _IPC_LOCK, _SYS_ADMIN, _PERFMON = 1, 2, 14, 21, 38
_KEPT = {
    "cpu": (_DAC_OVERRIDE, _DAC_READ_SEARCH),
    "cuda": (_DAC_OVERRIDE, _DAC_READ_SEARCH, _IPC_LOCK, _SYS_ADMIN, _PERFMON),
}
"""What of root's rights stays: reading a Python that another user owns; on a GPU what its driver may ask for."""


def c_library() -> ctypes.CDLL:
    return ctypes.CDLL(None, use_errno=True)


def set_limits(memory_bytes: int | None) -> None:
    """No core files, bounded files; `memory_bytes` bounds private memory (not address space: CUDA reserves much)."""
    wanted = [
        (resource.RLIMIT_CORE, 0),
        (resource.RLIMIT_FSIZE, _LARGEST_FILE),
        (resource.RLIMIT_NOFILE, _OPEN_FILES),
    ]
    if memory_bytes is not None:
        wanted.append((resource.RLIMIT_DATA, memory_bytes))
    for name, value in wanted:
        _, hard = resource.getrlimit(name)
        value = value if hard == resource.RLIM_INFINITY else min(value, hard)
        resource.setrlimit(name, (value, value))


def leave_network() -> bool:
    """A network of its own without any interface; through a user namespace when not root."""
    libc = c_library()
    if libc.unshare(_CLONE_NEWNET | _CLONE_NEWIPC) == 0:
        return True
    uid, gid = os.geteuid(), os.getegid()
    if libc.unshare(_CLONE_NEWUSER | _CLONE_NEWNET | _CLONE_NEWIPC) != 0:
        return False
    with contextlib.suppress(OSError):
        Path("/proc/self/setgroups").write_text("deny")
        Path("/proc/self/uid_map").write_text(f"{uid} {uid} 1")
        Path("/proc/self/gid_map").write_text(f"{gid} {gid} 1")
    return True


def give_up_privileges(device: Literal["cpu", "cuda"] = "cpu") -> None:
    """No new privileges by exec, memory not readable by others, and death when the parent dies.

    Of root's rights nearly all are dropped: no device files, no immutable files, no raw access to the machine.
    """
    libc = c_library()
    libc.prctl(_PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
    _drop_capabilities(libc, _KEPT[device])
    libc.prctl(_PR_SET_DUMPABLE, 0, 0, 0, 0)
    die_with_parent()


def die_with_parent() -> None:
    c_library().prctl(_PR_SET_PDEATHSIG, 9, 0, 0, 0)


def adopt_orphans() -> None:
    """Descendants whose parent dies become children of this process, wherever they hide."""
    c_library().prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def _drop_capabilities(libc: ctypes.CDLL, kept: tuple[int, ...]) -> None:
    """Keep at most `kept`; what the process does not have it does not get (capset(2))."""
    header = struct.pack("Ii", _CAPABILITIES_V3, 0)
    now = ctypes.create_string_buffer(24)
    if libc.syscall(_CAPGET, header, now) != 0:
        return
    masks = [sum(1 << (c - 32 * half) for c in kept if c // 32 == half) for half in (0, 1)]
    had = struct.unpack("6I", now.raw)
    left = [sets & masks[i // 3] for i, sets in enumerate(had)]
    libc.syscall(_CAPSET, header, struct.pack("6I", *left))
