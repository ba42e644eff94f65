"""The evidence of a submission: the facts, the digest that names them, and what they amount to."""

from typing import Any, Self

from submissions.facts import Facts
from submissions.readiness import Readiness, performance_line, reasons_for_draft
from tasks.value import digest_of


class Evidence(Facts):
    """The facts, their digest, and what they amount to."""

    digest: str
    """sha256 of the facts: of candidate, task, target, verdict, precision policy and all the rest."""
    readiness: Readiness
    reasons: tuple[str, ...]
    """Why it is a draft; empty when it is ready."""
    performance: str

    @classmethod
    def of(cls, facts: Facts) -> Self:
        """What `facts` amount to; an `Evidence` may be given, to see whether it still holds."""
        content = {name: getattr(facts, name) for name in Facts.model_fields}
        reasons = reasons_for_draft(facts)
        return cls(
            **content,
            digest=digest_of(_content_of(Facts(**content))),
            readiness="draft" if reasons else "ready",
            reasons=reasons,
            performance=performance_line(facts.target, facts.verdict),
        )

    @property
    def content(self) -> dict[str, Any]:
        """What evidence.json holds."""
        return _content_of(self)


def _content_of(facts: Facts) -> dict[str, Any]:
    return facts.model_dump(mode="json", exclude={"verdict": {"measurements"}})
