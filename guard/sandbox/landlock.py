"""Landlock: which files a process may see, by the kernel's own interface (landlock(7))."""

import ctypes
import os
import struct
import sys
import sysconfig
from pathlib import Path

from guard.sandbox.limits import c_library

_CREATE_RULESET, _ADD_RULE, _RESTRICT_SELF = 444, 445, 446
_EXECUTE, _WRITE_FILE, _READ_FILE, _READ_DIR = 1 << 0, 1 << 1, 1 << 2, 1 << 3
_TRUNCATE, _IOCTL_DEV = 1 << 14, 1 << 15
_READ = _EXECUTE | _READ_FILE | _READ_DIR
_WRITE = sum(1 << bit for bit in (1, 4, 5, 7, 8, 9, 10, 12, 13, 14))
_MAKE_DEVICE = 1 << 6 | 1 << 11
"""Character and block devices: handled, and allowed nowhere."""
_FILE_ONLY = _EXECUTE | _WRITE_FILE | _READ_FILE | _TRUNCATE | _IOCTL_DEV
_NET_TCP, _SCOPES = 3, 3
_RIGHTS_BY_ABI = {1: 13, 2: 14, 3: 15, 4: 15}
_PATH_RULE = 1


def restrict(readable: list[Path], writable: list[Path], gpu: bool) -> bool:
    """From here on only system files, Python, `readable` and (writing) `writable`; False when the kernel has no Landlock."""
    libc = c_library()
    abi = libc.syscall(_CREATE_RULESET, None, ctypes.c_size_t(0), 1)
    if abi < 1:
        return False
    handled = (_READ | _WRITE | _MAKE_DEVICE | _IOCTL_DEV) & ((1 << _RIGHTS_BY_ABI.get(abi, 16)) - 1)
    fields = [handled, _NET_TCP if abi >= 4 else 0, _SCOPES if abi >= 6 else 0]
    attribute = struct.pack("QQQ", *fields)
    size = 24 if abi >= 6 else 16 if abi >= 4 else 8
    ruleset = libc.syscall(_CREATE_RULESET, attribute, ctypes.c_size_t(size), 0)
    if ruleset < 0:
        return False
    for path in [*_system_paths(), *readable]:
        _allow(libc, ruleset, path, _READ & handled)
    for path in [*_scratch_devices(gpu), *writable]:
        _allow(libc, ruleset, path, (_READ | _WRITE | _IOCTL_DEV) & handled)
    libc.prctl(38, 1, 0, 0, 0)
    done = libc.syscall(_RESTRICT_SELF, ruleset, 0) == 0
    os.close(ruleset)
    return bool(done)


def _system_paths() -> list[Path]:
    """Where programs, libraries, Python and the CUDA tool chain lie; no home, no checkout."""
    fixed = [
        "/usr",
        "/lib",
        "/lib64",
        "/bin",
        "/sbin",
        "/etc",
        "/opt",
        "/sys",
        "/proc",
        "/dev/urandom",
        "/dev/zero",
    ]
    python = [sys.prefix, sys.base_prefix, sysconfig.get_paths()["purelib"], sysconfig.get_paths()["stdlib"]]
    checkout = str(Path(__file__).resolve().parents[2])
    extra = [p for p in sys.path if p and os.path.realpath(p) != checkout] + [os.environ.get("CUDA_HOME", "")]
    return [Path(p) for p in [*fixed, *python, *(os.path.realpath(p) for p in python), *extra] if p]


def _scratch_devices(gpu: bool) -> list[Path]:
    """Shared memory outlives a process and is everybody's: a driver may need it, a CPU candidate does not."""
    if not gpu:
        return [Path("/dev/null")]
    return [Path("/dev/null"), Path("/dev/shm"), *Path("/dev").glob("nvidia*"), Path("/dev/dri")]


def _allow(libc: ctypes.CDLL, ruleset: int, path: Path, rights: int) -> None:
    try:
        descriptor = os.open(path, os.O_PATH | os.O_CLOEXEC)
    except OSError:
        return
    if not path.is_dir():
        rights &= _FILE_ONLY
    libc.syscall(_ADD_RULE, ruleset, _PATH_RULE, struct.pack("=Qi", rights, descriptor), 0)
    os.close(descriptor)
