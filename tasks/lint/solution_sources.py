"""Source files: where they must lie, and which names they must not take."""

import sys
from collections.abc import Iterator
from pathlib import PurePosixPath

from tasks.document import Document
from tasks.solution import Solution
from tasks.source_paths import path_faults
from tasks.task import LintFinding

COMPILED = (".cu", ".cpp", ".cc", ".cxx", ".c")
"""What the public evaluator hands to the compiler, from the root of the staging folder only."""
_RESERVED = (
    "definition.json",
    "workload.jsonl",
    "solution.json",
    "config.json",
    "eval_driver.py",
    "build_ext.py",
)
_IMPORTANT_MODULES = (
    *("torch", "triton", "numpy", "scipy", "safetensors", "pydantic", "sol_execbench"),
    *("tasks", "guard", "sitecustomize", "usercustomize"),
)
"""Modules that the evaluator, our guard or Python itself imports in the candidate's process."""


def source_findings(solution: Solution, document: Document) -> Iterator[LintFinding]:
    impossible = {fault.place: fault for fault in path_faults([s.path for s in solution.sources])}
    for index, source in enumerate(solution.sources):
        path = PurePosixPath(source.path)
        field = f"sources[{index}].path"
        if fault := impossible.get(index):
            yield document.finding("error", "impossible-path", field, fault.problem, fault.mend)
            continue
        if str(path) in _RESERVED:
            yield document.finding(
                "error",
                "reserved-name",
                field,
                f"{source.path!r} is a file of the evaluator's own",
                "rename it",
            )
        module = path.stem if len(path.parts) == 1 and path.suffix == ".py" else path.parts[0]
        if module in _IMPORTANT_MODULES or (path.suffix == ".py" and module in sys.stdlib_module_names):
            yield document.finding(
                "warning",
                "shadowing-name",
                field,
                f"{source.path!r} hides the module {module!r} from everything in the process",
                "rename it",
            )
    if solution.spec.is_cpp:
        yield from _staging(solution, document)


def _staging(solution: Solution, document: Document) -> Iterator[LintFinding]:
    """C and C++ files below the root are written out and never compiled."""
    compiled = [s.path for s in solution.sources if _is_compiled(s.path)]
    if not compiled:
        yield document.finding(
            "error",
            "nothing-to-compile",
            "sources",
            f"holds no {', '.join(COMPILED)} file in the root of the staging folder",
            "move the files that are to be compiled out of their folders",
        )
    for index, source in enumerate(solution.sources):
        path = PurePosixPath(source.path)
        if compiled and path.suffix in COMPILED and not _is_compiled(source.path):
            yield document.finding(
                "warning",
                "not-compiled",
                f"sources[{index}].path",
                f"{source.path!r} lies in a folder, and only files in the root are compiled",
                "move it to the root, or include it from a file there",
            )


def _is_compiled(path: str) -> bool:
    pure = PurePosixPath(path)
    return len(pure.parts) == 1 and pure.suffix in COMPILED
