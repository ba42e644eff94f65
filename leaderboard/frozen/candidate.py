"""A frozen kernel as a candidate: one file of Python that holds the cubin and launches it."""

import base64
import textwrap
import zlib
from pathlib import Path

from leaderboard.frozen.kernel import FrozenKernel
from tasks.candidate import Candidate
from tasks.solution import BuildSpec, Hardware, Language, Solution, SourceFile
from tasks.task import Task

_LAUNCHER = Path(__file__).with_name("launcher.py")
_ENTRY = "main.py"


def frozen_candidate(kernel: FrozenKernel, task: Task, cycles: int = 0) -> Candidate:
    """The same bytes for the same kernel. With `cycles` it is no sentinel: it waits so long at its end, for tests."""
    spec = BuildSpec(
        languages=(Language.PYTORCH,),
        target_hardware=(Hardware.LOCAL,),
        entry_point=f"{_ENTRY}::run",
        destination_passing_style=True,
    )
    solution = Solution(
        name=f"{kernel.name}-{kernel.cubin[:8]}",
        definition=task.definition.name,
        author="kernelarc",
        spec=spec,
        sources=(SourceFile(path=_ENTRY, content=_source(kernel, task, cycles)),),
        description=f"Cubin {kernel.cubin} for {kernel.architecture}, launched as it is.",
    )
    return Candidate(
        solution=solution,
        definition_digest=task.definition.digest,
        agent="frozen",
        strategy=f"cubin {kernel.cubin[:12]} for {kernel.architecture}",
    )


def _source(kernel: FrozenKernel, task: Task, cycles: int) -> str:
    names = ", ".join([*task.definition.inputs, *task.definition.outputs])
    delay = f", cycles={cycles}" if cycles else ""
    packed = base64.b64encode(zlib.compress(kernel.image(), 9)).decode()
    return (
        f"{_LAUNCHER.read_text()}\n\nCUBIN = (\n{textwrap.indent(_in_lines(packed), '    ')}\n)\n"
        f"kernel = Frozen(CUBIN, {kernel.entry!r}, {kernel.grid}, {kernel.threads}, {kernel.shared_bytes}, "
        f"{kernel.pointers})\n\n\ndef run({names}):\n    kernel({names}{delay})\n"
    )


def _in_lines(packed: str) -> str:
    return "\n".join(f'"{line}"' for line in textwrap.wrap(packed, 100))
