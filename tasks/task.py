"""A task: one definition with its workloads, wherever it was read from."""

from typing import Literal

from tasks.definition import Definition
from tasks.value import Value, digest_of
from tasks.workload import SafetensorsInput, Workload

Subset = Literal["L1", "L2", "Quant", "FlashInfer-Bench"]
Mark = Literal["shrunk", "synthetic-inputs"]


class LintFinding(Value):
    """One thing that an official model swallows silently, with where it stands and how to mend it."""

    level: Literal["error", "warning", "note"]
    code: str
    """A short kebab-case name of the kind, such as `misspelt-key`."""
    file: str
    field: str
    problem: str
    mend: str

    def __str__(self) -> str:
        return f"{self.level} {self.file} `{self.field}`: {self.problem}; {self.mend} [{self.code}]"


class Task(Value):
    name: str
    """The name that finds it again: `l2_decoder`, or `L1/048_fused_gate_up_projection_with_swiglu`."""
    subset: Subset | None = None
    source: Literal["shipped", "dataset", "folder", "parquet"] = "folder"
    definition: Definition
    workloads: tuple[Workload, ...]
    marks: tuple[Mark, ...] = ()
    """Why a result on it is not a result on the official problem."""
    originals: dict[str, str] = {}
    """Of a shrunk workload's uuid, the uuid it was shrunk from."""
    blob_roots: tuple[str, ...] = ()
    """Folders in which recorded safetensors inputs are looked for; where they lie changes nothing asked."""
    findings: tuple[LintFinding, ...] = ()

    @property
    def digest(self) -> str:
        """sha256 of the definition and the workloads: what is asked, not where it was found."""
        content = [
            self.definition.model_dump(mode="json"),
            [w.model_dump(mode="json") for w in self.workloads],
        ]
        return digest_of(content)

    @property
    def needs_blobs(self) -> bool:
        return any(isinstance(s, SafetensorsInput) for w in self.workloads for s in w.inputs.values())
