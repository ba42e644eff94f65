"""A candidate: a solution that has not been judged yet, named by everything that can change what it does."""

from tasks.solution import Solution
from tasks.value import Value, digest_of


class Candidate(Value):
    """`agent` and `strategy` say where it came from; they are not part of its digest."""

    solution: Solution
    definition_digest: str
    agent: str = "user"
    strategy: str = ""

    @property
    def digest(self) -> str:
        """sha256 of build spec (defaults filled in), sources and definition; names and authors are left out."""
        return digest_of(
            {
                "spec": self.solution.spec.model_dump(mode="json"),
                "sources": [source.model_dump(mode="json") for source in self.solution.sources],
                "definition": self.definition_digest,
            }
        )
