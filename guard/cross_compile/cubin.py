"""What a compiled kernel takes of an SM, read by the disassembler that comes with Triton."""

import re
import subprocess
from pathlib import Path

from tasks.value import Value


class Resources(Value):
    registers: int
    """A thread."""
    stack_bytes: int
    """Local memory a thread: in Triton's kernels, registers that were spilled."""
    static_shared_bytes: int


def resources_of(cubin: Path, cuobjdump: Path) -> dict[str, Resources]:
    """Resources of every kernel in `cubin` by name; `RuntimeError` says what the tool complained about."""
    done = subprocess.run(
        [cuobjdump, "-res-usage", cubin], capture_output=True, text=True, timeout=30, check=False
    )
    if done.returncode:
        raise RuntimeError(f"cuobjdump: {done.stderr.strip() or done.stdout.strip()}")
    found = re.findall(
        r"Function (\S+):\s*\n?.*?REG:(\d+)\s+STACK:(\d+)\s+SHARED:(\d+)", done.stdout + done.stderr
    )
    return {
        name: Resources(registers=int(reg), stack_bytes=int(stack), static_shared_bytes=int(shared))
        for name, reg, stack, shared in found
    }


def cuobjdump_of_triton() -> Path:
    """The disassembler in Triton's own package."""
    import triton

    return Path(triton.__file__).parent / "backends" / "nvidia" / "bin" / "cuobjdump"
