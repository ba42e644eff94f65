"""exp(x - max) / sum: `torch.softmax`."""

from agents.library.rules.base import Rule, Writer
from agents.reading.pattern import Found, Pattern
from agents.reading.reading import Reading
from agents.reading.term import Term

_SHIFTED = "torch.exp(_x - torch.amax(_x, dim=-1, keepdim=True))"
_SOFTMAX = Pattern(f"{_SHIFTED} / torch.sum({_SHIFTED}, dim=-1, keepdim=True)")


def match(term: Term, reading: Reading) -> Found | None:
    return _SOFTMAX.match(term, reading)


def rewrite(found: Found, reading: Reading, writer: Writer) -> str:
    return f"torch.softmax({writer.text(found['x'])}, dim=-1)"


RULE = Rule("softmax", "reassociated", match, rewrite)
