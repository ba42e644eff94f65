"""x @ weight.T: `torch.nn.functional.linear`, which folds leading dimensions and knows the transposed layout."""

from agents.library.rules.base import Rule, Writer
from agents.reading.pattern import Found, Pattern
from agents.reading.reading import Reading
from agents.reading.term import Term

_PRODUCT = Pattern("torch.matmul(_x, _weight.transpose(-2, -1))")


def match(term: Term, reading: Reading) -> Found | None:
    found = _PRODUCT.match(term, reading)
    return found if found is not None and reading.tensor(found["weight"]).rank == 2 else None


def rewrite(found: Found, reading: Reading, writer: Writer) -> str:
    return f"torch.nn.functional.linear({writer.text(found['x'])}, {writer.text(found['weight'])})"


RULE = Rule("linear", "exact", match, rewrite)
