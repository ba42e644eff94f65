"""Where a candidate's files are laid: rules on paths before, and a folder of its own."""

import shutil
import sys
from pathlib import Path, PurePosixPath

from guard.carried import Carried
from guard.removal import remove_tree
from guard.verdict import Reason, ReasonCode
from tasks.candidate import Candidate

_RESERVED = {
    "definition.json", "workload.jsonl", "config.json", "solution.json", "reference.py", "_reference.py",
    "eval_driver.py", "sitecustomize.py", "usercustomize.py", "conftest.py",
}  # fmt: skip
_BINARY = {".so", ".pth", ".pyc", ".pyd", ".cubin", ".fatbin", ".o", ".a", ".dll"}
_LONGEST_PATH, _LONGEST_NAME = 1024, 256
_TAKEN = {
    "torch",
    "numpy",
    "triton",
    "safetensors",
    "cupti",
    "cuda",
    "cupy",
    "pydantic",
    "sol_execbench",
    "flashinfer",
}


def path_fault(candidate: Candidate) -> Reason | None:
    """The first source path that could pass for somebody else's file; names decide, contents never."""
    for source in candidate.solution.sources:
        path = PurePosixPath(source.path)
        top = path.parts[0].removesuffix(".py") if path.parts else ""
        if not _can_be_laid(path, candidate):
            said = f"{source.path[:100]!r} is no name that a file can have beside the others"
        elif path.name in _RESERVED:
            said = f"{source.path} has a name that is reserved for the evaluation's own files"
        elif path.suffix in _BINARY:
            said = f"{source.path} is a binary; sources only"
        elif path.suffix == ".py" and (top in sys.stdlib_module_names or top in _TAKEN):
            said = f"{source.path} shadows the module {top!r}; rename it"
        else:
            continue
        return Reason(code=ReasonCode.PATH, message=said)
    return None


def _can_be_laid(path: PurePosixPath, candidate: Candidate) -> bool:
    """A name of ordinary characters and length, which no other source needs for a folder."""
    others = [PurePosixPath(source.path) for source in candidate.solution.sources]
    return (
        bool(path.name)
        and "\0" not in str(path)
        and len(str(path).encode(errors="replace")) < _LONGEST_PATH
        and all(len(part.encode(errors="replace")) < _LONGEST_NAME for part in path.parts)
        and not any(path in other.parents for other in others)
    )


class Stage:
    """`source` holds what was handed in, `scratch` is the only place where the candidate may write."""

    def __init__(self, candidate: Candidate, root: Path) -> None:
        self.root = root / candidate.digest[:16]
        self.source, self.scratch, self.built = (
            self.root / "source",
            self.root / "scratch",
            self.root / "built",
        )
        for folder in (self.source, self.scratch, self.built):
            folder.mkdir(parents=True, exist_ok=True)
        self.readable: tuple[Path, ...] = ()
        """What a worker may read besides."""
        self.carried = Carried(self.scratch, self.root / "carried")
        self._candidate = candidate

    def lay(self) -> None:
        """Write the sources; only called when the worker has said READY."""
        for source in self._candidate.solution.sources:
            path = self.source / source.path
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(source.content, encoding="utf-8", newline="")
        for library in self.built.glob("*.so"):
            shutil.copy2(library, self.source / library.name)

    def lift(self) -> None:
        """Take away what a worker that has ended leaves: the next one begins with what it may find compiled, and no more."""
        remove_tree(self.source)
        self.source.mkdir(exist_ok=True)
        self.carried.renew()

    def remove(self) -> None:
        remove_tree(self.root)
