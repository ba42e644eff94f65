"""residual + a batch of products: one `torch.baddbmm`."""

from agents.library.rules.base import Rule, Writer
from agents.reading.kinds import Kind, Size
from agents.reading.pattern import Found, Pattern
from agents.reading.reading import Reading
from agents.reading.term import Term

_SUM = Pattern("_residual + torch.matmul(_first, _second)")


def match(term: Term, reading: Reading) -> Found | None:
    for found in _SUM.matches(term, reading):
        kinds = [reading.tensor(found[key]) for key in ("residual", "first", "second")]
        residual, first, second = kinds
        one_type = len({kind.dtype for kind in kinds}) == 1 and first.dtype is not None
        # the product must not broadcast: baddbmm does not
        plain = _batches(first) == _batches(second) is not None
        if one_type and plain and residual.same_shape(reading.tensor(term)):
            return found
    return None


def _batches(kind: Kind) -> Size:
    return kind.shape[0] if kind.shape is not None and len(kind.shape) == 3 else None


def rewrite(found: Found, reading: Reading, writer: Writer) -> str:
    return f"torch.baddbmm({', '.join(writer.text(found[k]) for k in ('residual', 'first', 'second'))})"


RULE = Rule("baddbmm", "reassociated", match, rewrite)
