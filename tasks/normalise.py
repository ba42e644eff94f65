"""What is put right before a document is validated, each with the finding that says so.

Only what keeps whole subsets of the public data set from loading is put right. A misspelt or missing
tolerance stays as it is, since the official judge ignores it too: `tasks.lint` reports it.
"""

from tasks.document import Document
from tasks.task import LintFinding

_OPTIONAL_TEXTS = ("hf_id", "op_type", "custom_inputs_entrypoint")


def normalise_definition(document: Document) -> tuple[Document, tuple[LintFinding, ...]]:
    """Empty optional texts become null: 26 official problems have `"hf_id": ""`, which is refused."""
    empty = [key for key in _OPTIONAL_TEXTS if document.content.get(key) == ""]
    if not empty:
        return document, ()
    content = {**document.content, **dict.fromkeys(empty)}
    findings = tuple(
        document.finding(
            "warning",
            "empty-text",
            key,
            "is empty, which the official model refuses",
            "write null or remove it",
        )
        for key in empty
    )
    return document.model_copy(update={"content": content}), findings
