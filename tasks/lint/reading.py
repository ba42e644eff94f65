"""Validating for a linter: every fault becomes a finding, none stops the rest."""

from collections.abc import Sequence
from typing import TypeVar

from pydantic import ValidationError

from tasks.document import Document
from tasks.errors import TaskError
from tasks.task import LintFinding
from tasks.validation import faults_of
from tasks.value import OfficialModel

Model = TypeVar("Model", bound=OfficialModel)


def examine(model: type[Model], document: Document) -> tuple[Model | None, list[LintFinding]]:
    """The document as `model`, or None and all that is wrong with it."""
    try:
        return model.model_validate(document.content), []
    except ValidationError as error:
        faults = faults_of(error, document.content)
        return None, [document.finding("error", "malformed", f.field, f.problem, f.mend) for f in faults]


def examine_all(
    model: type[Model], documents: Sequence[Document]
) -> tuple[list[tuple[Model, Document]], list[LintFinding]]:
    """Those documents that are a `model`, and all that is wrong with the others."""
    good: list[tuple[Model, Document]] = []
    findings: list[LintFinding] = []
    for document in documents:
        value, faults = examine(model, document)
        findings += faults
        if value is not None:
            good.append((value, document))
    return good, findings


def finding_of(error: TaskError) -> LintFinding:
    """The finding that stands for a file which cannot be used."""
    return LintFinding(
        level="error",
        code="malformed",
        file=str(error.file or ""),
        field=error.field or "whole file",
        problem=error.problem,
        mend=error.mend or "correct it",
    )
