"""Cases as they lie in their folders: `case.yaml`, and beside it the sources as a candidate would hand them in."""

from pathlib import Path
from typing import Annotated, Literal

import yaml
from pydantic import Field, field_validator, model_validator

from guard.verdict import PrecisionPolicy, ReasonCode
from tasks.candidate import Candidate
from tasks.solution import BuildSpec, CompileOptions, Hardware, Language, Solution, SourceFile
from tasks.value import Value
from tests.museum.tasks import TASKS

FOLDER = Path(__file__).parent
_ENTRIES = {"main.py": "main.py", "kernel.cu": "kernel.cu", "kernel.cpp": "kernel.cpp"}


class Case(Value):
    """One exhibit. `neutral`: always right, touches nothing that counts, and so gains nothing."""

    name: str
    kind: str
    device: Literal["cpu", "gpu"]
    task: str
    expected: Literal["reject", "accept", "neutral"]
    reasons: tuple[ReasonCode, ...] = ()
    precision: PrecisionPolicy = "strict"
    style: Literal["dps", "return"] = "return"
    languages: tuple[Language, ...] = (Language.PYTORCH,)
    compile_options: dict[str, tuple[str, ...]] | None = None
    slow: bool = False
    why: Annotated[str, Field(min_length=20)]
    sources: tuple[SourceFile, ...]

    @field_validator("task")
    @classmethod
    def _is_a_task_of_the_museum(cls, name: str) -> str:
        if name not in TASKS:
            raise ValueError(f"{name!r} is none of {sorted(TASKS)}")
        return name

    @model_validator(mode="after")
    def _only_cheats_name_reasons(self) -> "Case":
        if (self.expected == "accept") == bool(self.reasons):
            raise ValueError("a cheat names the reasons it may be rejected for, an honest case names none")
        return self

    @property
    def is_cheat(self) -> bool:
        return self.expected != "accept"

    def candidate(self) -> Candidate:
        paths = [source.path for source in self.sources]
        entry = next(path for path in _ENTRIES if path in paths)
        options = CompileOptions(**self.compile_options) if self.compile_options else None
        spec = BuildSpec(
            languages=self.languages,
            target_hardware=(Hardware.LOCAL,),
            entry_point=f"{entry}::run",
            destination_passing_style=self.style == "dps",
            compile_options=options,
        )
        definition = TASKS[self.task]().definition
        solution = Solution(
            name=self.name, definition=definition.name, author="museum", spec=spec, sources=self.sources
        )
        return Candidate(solution=solution, definition_digest=definition.digest, agent="museum")


def load(name: str) -> Case:
    folder = FOLDER / name
    files = sorted(
        p for p in folder.rglob("*") if p.is_file() and p.name != "case.yaml" and "__pycache__" not in p.parts
    )
    sources = [SourceFile(path=str(p.relative_to(folder)), content=p.read_text()) for p in files]
    return Case(name=name, sources=tuple(sources), **yaml.safe_load((folder / "case.yaml").read_text()))


def names() -> list[str]:
    return sorted(p.parent.name for p in FOLDER.glob("*/case.yaml"))


CASES: dict[str, Case] = {name: load(name) for name in names()}
