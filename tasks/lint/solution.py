"""A solution file: what the official model lets through and the evaluator or a reader then trips over."""

import re
from collections.abc import Iterator

from tasks.definition import Definition, DType
from tasks.document import Document
from tasks.lint.keys import key_findings
from tasks.lint.solution_build import build_findings
from tasks.lint.solution_entry import entry_findings
from tasks.lint.solution_sources import source_findings
from tasks.solution import Language, Solution
from tasks.solution_file import is_for
from tasks.task import LintFinding

_IMPORTS = {
    language: re.compile(rf"^\s*(?:import|from)\b[^#\n]*(?<![.\w]){module}\b", re.MULTILINE)
    for language, module in {
        Language.TRITON: "triton",
        Language.CUTE_DSL: "cutlass",
        Language.CUTILE: r"cuda\.tile",
        Language.CUDNN_FRONTEND: "cudnn",
    }.items()
}
_FP4 = {DType.FLOAT4_E2M1, DType.FLOAT4_E2M1FN_X2}
_FP4_ADVICE = {
    Language.TRITON: "view it as uint8 and use tl.dot_scaled with 'e2m1'",
    Language.CUDA_CPP: "take the untyped data_ptr(), two values a byte, the even index in the low nibble",
    Language.CUTLASS: "take the untyped data_ptr(), two values a byte, the even index in the low nibble",
}


def solution_findings(
    solution: Solution, document: Document, definition: Definition | None = None
) -> Iterator[LintFinding]:
    """`definition` is the one it will be judged against, when that is known."""
    yield from key_findings(solution, document)
    yield from _languages(solution, document)
    yield from build_findings(solution, document)
    yield from source_findings(solution, document)
    yield from entry_findings(solution, document, definition)
    if solution.spec.dependencies:
        yield document.finding(
            "note",
            "idle-dependencies",
            "spec.dependencies",
            "is never checked nor installed",
            "use only what the evaluator's image holds",
        )
    if definition is not None:
        yield from _against(solution, document, definition)


def _languages(solution: Solution, document: Document) -> Iterator[LintFinding]:
    languages = solution.spec.languages
    if not languages:
        yield document.finding(
            "warning",
            "no-language",
            "spec.languages",
            "is empty, which passes and runs as Python",
            "name the language that is used",
        )
        return
    if solution.spec.is_cpp:
        return
    text = "\n".join(source.content for source in solution.sources)
    for language, pattern in _IMPORTS.items():
        used = bool(pattern.search(text))
        if used and language not in languages:
            yield document.finding(
                "warning",
                "unnamed-language",
                "spec.languages",
                f"lacks {language}, which is imported",
                "add it",
            )
        elif language in languages and not used:
            yield document.finding(
                "note",
                "unused-language",
                "spec.languages",
                f"names {language}, which is not imported",
                "remove it",
            )


def _against(solution: Solution, document: Document, definition: Definition) -> Iterator[LintFinding]:
    if not is_for(solution, definition):
        yield document.finding(
            "warning",
            "other-definition",
            "definition",
            f"names {solution.definition!r} and not {definition.name!r}; the evaluator never compares them",
            "check that it is meant for this task",
        )
    tensors = (*definition.inputs.values(), *definition.outputs.values())
    if any(spec.dtype in _FP4 for spec in tensors):
        for language in solution.spec.languages:
            if language in _FP4_ADVICE:
                yield document.finding(
                    "note",
                    "packed-fp4",
                    "spec.languages",
                    f"{language} has no type for the packed fp4 tensors of this task",
                    _FP4_ADVICE[language],
                )
