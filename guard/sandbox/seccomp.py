"""Seccomp: system calls that answer with an error, as a classic BPF program loaded without any package.

Errors and not death: libraries probe for calls and must survive a refusal.
"""

import ctypes
import errno
import platform
import struct

from guard.sandbox.limits import c_library

_X86_64 = {
    "clone": 56, "fork": 57, "vfork": 58, "execve": 59, "socket": 41, "ptrace": 101, "personality": 135,
    "pivot_root": 155, "chroot": 161, "acct": 163, "settimeofday": 164, "adjtimex": 159, "mount": 165, "umount2": 166,
    "swapon": 167, "reboot": 169, "init_module": 175, "delete_module": 176, "quotactl": 179, "clock_settime": 227,
    "kexec_load": 246, "add_key": 248, "request_key": 249, "keyctl": 250, "unshare": 272, "perf_event_open": 298,
    "open_by_handle_at": 304, "clock_adjtime": 305, "setns": 308, "process_vm_readv": 310, "process_vm_writev": 311,
    "kcmp": 312, "finit_module": 313, "seccomp": 317, "bpf": 321, "execveat": 322, "userfaultfd": 323,
    "kill": 62, "fcntl": 72, "rt_sigqueueinfo": 129, "tkill": 200, "timer_create": 222, "tgkill": 234,
    "mq_notify": 244, "rt_tgsigqueueinfo": 297, "pidfd_send_signal": 424,
    "setrlimit": 160, "prlimit64": 302, "setpriority": 141, "ioprio_set": 251, "sched_setaffinity": 203,
    "sched_setscheduler": 144, "sched_setparam": 142, "sched_setattr": 314, "memfd_create": 319, "shmget": 29,
    "chmod": 90, "fchmod": 91, "fchmodat": 268, "fchmodat2": 452, "chown": 92, "fchown": 93, "lchown": 94,
    "fchownat": 260, "utime": 132, "utimes": 235, "futimesat": 261, "utimensat": 280, "setxattr": 188,
    "lsetxattr": 189, "fsetxattr": 190, "removexattr": 197, "lremovexattr": 198, "fremovexattr": 199,
    "sethostname": 170, "setdomainname": 171, "iopl": 172, "ioperm": 173, "kexec_file_load": 320,
    "io_uring_setup": 425, "io_uring_enter": 426, "io_uring_register": 427, "open_tree": 428, "move_mount": 429,
    "fsopen": 430, "fsmount": 432, "pidfd_open": 434, "clone3": 435, "pidfd_getfd": 438,
}  # fmt: skip
NEVER = (
    "ptrace", "process_vm_readv", "process_vm_writev", "kcmp", "pidfd_getfd", "perf_event_open", "bpf",
    "userfaultfd", "keyctl", "add_key", "request_key", "mount", "umount2", "move_mount", "open_tree", "fsopen",
    "fsmount", "unshare", "setns", "init_module", "finit_module", "delete_module", "reboot", "kexec_load",
    "io_uring_setup", "io_uring_enter", "io_uring_register", "chroot", "pivot_root", "open_by_handle_at",
    "clock_settime", "clock_adjtime", "settimeofday", "adjtimex", "swapon", "acct", "quotactl", "personality",
    # a timer or a queue could send SIGCONT to a worker that is meant to stand still
    "timer_create", "mq_notify",
    # a limit on its own processor time would end a worker as only the guard and the machine may
    "setrlimit", "ioprio_set", "sethostname", "setdomainname", "iopl", "ioperm", "kexec_file_load",
    "setxattr", "lsetxattr", "fsetxattr", "removexattr", "lremovexattr", "fremovexattr",
)  # fmt: skip
UNCOUNTED_MEMORY = ("memfd_create", "shmget")
"""Memory that a process holds without being seen to; drivers of GPUs may need it, candidates on a CPU do not."""
_PRETENDED = (
    "chmod", "fchmod", "fchmodat", "fchmodat2", "chown", "fchown", "lchown", "fchownat", "utime", "utimes",
    "futimesat", "utimensat",
)  # fmt: skip
"""Landlock lets them pass for every file of the same user. Linkers and copiers call them and mind a refusal."""
_SCHEDULING = ("sched_setaffinity", "sched_setscheduler", "sched_setparam", "sched_setattr")
AFTER_BUILD = ("execve", "execveat", "fork", "vfork", "seccomp")
_AUDIT_ARCH_X86_64 = 0xC000003E
_LOAD, _JUMP_EQ, _JUMP_FROM, _JUMP_SET, _RETURN = 0x20, 0x15, 0x35, 0x45, 0x06
_ALLOW, _ERRNO = 0x7FFF0000, 0x00050000
_AF_UNIX, _CLONE_THREAD = 1, 0x00010000
_NUMBER, _ARCHITECTURE, _ARGUMENTS = 0, 4, (16, 24, 32)
_UPPER_HALF = 4
_KILL, _F_SETSIG, _NEGATIVE, _X32 = 9, 10, 1 << 31, 1 << 30
_SENDERS = {"rt_sigqueueinfo": 1, "tkill": 1, "tgkill": 2, "rt_tgsigqueueinfo": 2, "pidfd_send_signal": 1}
"""Calls that send a signal, and which argument names it."""
_PR_SET_NO_NEW_PRIVS, _PR_SET_SECCOMP, _MODE_FILTER = 38, 22, 2

Instruction = tuple[int, int, int, int]


def forbid(names: tuple[str, ...], inet: bool = True, threads_only: bool = False) -> bool:
    """Refuse `names` with EPERM; without `inet` sockets may only be local; with `threads_only` clone makes threads only.

    False where the processor or the kernel has no such filter.
    """
    if platform.machine() != "x86_64":
        return False
    return _load(_program(names, inet, threads_only))


def forbid_ending_oneself(pid: int) -> bool:
    """Process `pid` and its children may not send it SIGKILL: only the guard and a machine out of memory do.

    Nor may a descriptor choose its own signal, such as the one that wakes a stopped process.
    """
    if platform.machine() != "x86_64":
        return False
    program: list[Instruction] = [(_LOAD, 0, 0, _NUMBER)]
    for name, argument in _SENDERS.items():
        program += _if_argument(_X86_64[name], argument, _KILL)
    program += _if_argument(_X86_64["fcntl"], 1, _F_SETSIG)
    program += [
        (_JUMP_EQ, 0, 8, _X86_64["kill"]),
        (_LOAD, 0, 0, _ARGUMENTS[1]),
        (_JUMP_EQ, 0, 5, _KILL),
        (_LOAD, 0, 0, _ARGUMENTS[0]),
        (_JUMP_EQ, 2, 0, 0),
        (_JUMP_EQ, 1, 0, pid),
        (_JUMP_FROM, 0, 1, _NEGATIVE),
        (_RETURN, 0, 0, _ERRNO | errno.EPERM),
        (_RETURN, 0, 0, _ALLOW),
    ]
    return _load([*program, (_RETURN, 0, 0, _ALLOW)])


def forbid_touching_others(keepers: tuple[int, ...]) -> bool:
    """No limit may be set on anybody, no priority but one's own, nothing on `keepers`, and no file's attributes.

    The last is not refused: it is said to be done and is not.
    """
    if platform.machine() != "x86_64":
        return False
    limit, priority = _ARGUMENTS[2], _ARGUMENTS[0]
    program: list[Instruction] = [(_LOAD, 0, 0, _NUMBER)]
    program += _unless_zero(_X86_64["prlimit64"], (limit, limit + _UPPER_HALF))
    program += _unless_zero(_X86_64["setpriority"], (priority, _ARGUMENTS[1]))
    for name in _SCHEDULING:
        for pid in keepers:
            program += _if_argument(_X86_64[name], 0, pid)
    for name in _PRETENDED:
        program += [(_JUMP_EQ, 0, 1, _X86_64[name]), (_RETURN, 0, 0, _ERRNO)]
    return _load([*program, (_RETURN, 0, 0, _ALLOW)])


def _unless_zero(number: int, at: tuple[int, int]) -> list[Instruction]:
    """Refuse call `number` unless both words of its arguments are zero."""
    return [
        (_JUMP_EQ, 0, 6, number),
        (_LOAD, 0, 0, at[0]),
        (_JUMP_EQ, 0, 2, 0),
        (_LOAD, 0, 0, at[1]),
        (_JUMP_EQ, 1, 0, 0),
        (_RETURN, 0, 0, _ERRNO | errno.EPERM),
        (_RETURN, 0, 0, _ALLOW),
    ]


def _if_argument(number: int, argument: int, value: int) -> list[Instruction]:
    """Refuse call `number` when that argument is `value`."""
    return [
        (_JUMP_EQ, 0, 4, number),
        (_LOAD, 0, 0, _ARGUMENTS[argument]),
        (_JUMP_EQ, 0, 1, value),
        (_RETURN, 0, 0, _ERRNO | errno.EPERM),
        (_RETURN, 0, 0, _ALLOW),
    ]


def _program(names: tuple[str, ...], inet: bool, threads_only: bool) -> list[Instruction]:
    program: list[Instruction] = [
        (_LOAD, 0, 0, _ARCHITECTURE),
        (_JUMP_EQ, 1, 0, _AUDIT_ARCH_X86_64),
        (_RETURN, 0, 0, _ERRNO | errno.ENOSYS),
        (_LOAD, 0, 0, _NUMBER),
        # the same calls under other numbers, for pointers of 32 bits
        (_JUMP_FROM, 0, 1, _X32),
        (_RETURN, 0, 0, _ERRNO | errno.ENOSYS),
    ]
    for name in names:
        program += [(_JUMP_EQ, 0, 1, _X86_64[name]), (_RETURN, 0, 0, _ERRNO | errno.EPERM)]
    if not inet:
        program += _unless_argument(_X86_64["socket"], (_JUMP_EQ, _AF_UNIX))
    if threads_only:
        # glibc falls back from clone3, whose flags lie in memory out of a filter's sight, to clone
        program += [(_JUMP_EQ, 0, 1, _X86_64["clone3"]), (_RETURN, 0, 0, _ERRNO | errno.ENOSYS)]
        program += _unless_argument(_X86_64["clone"], (_JUMP_SET, _CLONE_THREAD))
    return [*program, (_RETURN, 0, 0, _ALLOW)]


def _unless_argument(number: int, test: tuple[int, int]) -> list[Instruction]:
    """Refuse call `number` unless its first argument passes `test`."""
    operation, constant = test
    return [
        (_JUMP_EQ, 0, 4, number),
        (_LOAD, 0, 0, _ARGUMENTS[0]),
        (operation, 1, 0, constant),
        (_RETURN, 0, 0, _ERRNO | errno.EPERM),
        (_RETURN, 0, 0, _ALLOW),
    ]


class _Filter(ctypes.Structure):
    _fields_ = (("length", ctypes.c_ushort), ("program", ctypes.c_char_p))


def _load(program: list[Instruction]) -> bool:
    code = b"".join(struct.pack("HBBI", *instruction) for instruction in program)
    libc = c_library()
    libc.prctl(_PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
    wanted = _Filter(len(program), code)
    return bool(libc.prctl(_PR_SET_SECCOMP, _MODE_FILTER, ctypes.byref(wanted), 0, 0) == 0)
