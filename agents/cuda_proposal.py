"""A proposal of C++ and CUDA sources: several files, one of which binds `run` for torch."""

from dataclasses import dataclass

from agents.proposal import Proposal
from tasks.candidate import Candidate
from tasks.solution import CompileOptions, Hardware, Language, SourceFile
from tasks.task import Task

_ARCHITECTURES = {Hardware.LOCAL: "90a", Hardware.B200: "100a"}


@dataclass(frozen=True)
class CudaProposal(Proposal):
    """`source` is the binding, in `binding.cpp`; `files` are the others, by name."""

    languages: tuple[Language, ...] = (Language.CUDA_CPP,)
    destination_passing_style: bool = True
    files: tuple[tuple[str, str], ...] = ()

    def candidate(self, task: Task, agent: str, target: Hardware) -> Candidate:
        """Compiled for the target's own architecture, with what only it has."""
        number = _ARCHITECTURES[target]
        options = CompileOptions(
            cflags=("-O2",),
            cuda_cflags=("-O3", f"-gencode=arch=compute_{number},code=sm_{number}"),
            ld_flags=(),
        )
        sources = [SourceFile(path="binding.cpp", content=self.source)]
        sources += [SourceFile(path=path, content=content) for path, content in self.files]
        return self._named(task, agent, target, tuple(sources), "binding.cpp::run", options)
