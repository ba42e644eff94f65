"""Proposal: an agent's source text made into a candidate that the official schema accepts."""

from dataclasses import dataclass

from tasks.candidate import Candidate
from tasks.solution import BuildSpec, CompileOptions, Hardware, Language, Solution, SourceFile
from tasks.task import Task

ENTRY_FILE = "main.py"
AUTHOR = "kernelarc"


@dataclass(frozen=True)
class Proposal:
    """One Python file with a function `run`, and the idea it tries in one sentence."""

    strategy: str
    source: str
    languages: tuple[Language, ...] = (Language.PYTORCH,)
    destination_passing_style: bool = False
    """False: `run(*inputs)` returns the outputs."""

    def candidate(self, task: Task, agent: str, target: Hardware) -> Candidate:
        """Named `<task>-<agent>-<first 8 of the digest>`; the name is no part of the digest."""
        sources = (SourceFile(path=ENTRY_FILE, content=self.source),)
        return self._named(task, agent, target, sources, f"{ENTRY_FILE}::run")

    def _named(
        self, task: Task, agent: str, target: Hardware, sources: tuple[SourceFile, ...], entry_point: str,
        options: CompileOptions | None = None,
    ) -> Candidate:  # fmt: skip
        spec = BuildSpec(
            languages=self.languages,
            target_hardware=(target,),
            entry_point=entry_point,
            destination_passing_style=self.destination_passing_style,
            compile_options=options,
        )
        nameless = Candidate(
            solution=Solution(
                name=agent,
                definition=task.definition.name,
                author=AUTHOR,
                spec=spec,
                sources=sources,
                description=self.strategy,
            ),
            definition_digest=task.definition.digest,
            agent=agent,
            strategy=self.strategy,
        )
        name = f"{task.name.replace('/', '-')}-{agent}-{nameless.digest[:8]}"
        return nameless.model_copy(update={"solution": nameless.solution.model_copy(update={"name": name})})
