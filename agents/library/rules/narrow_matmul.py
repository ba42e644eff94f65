"""A product of widened bf16 or fp16 operands: the same product in the narrow type, on tensor cores.

Products of two bf16 (fp16) numbers are exact in fp32 and sums are kept in fp32 either way; what is lost is the
wide result, rounded here when the reference rounds it later or not at all.
"""

from agents.library.rules.base import Rule, Writer
from agents.reading.pattern import Found, Pattern, uncast
from agents.reading.reading import Reading
from agents.reading.term import Term

_PRODUCT = Pattern("cast(torch.matmul(_first, _second))")
_TURNED = Pattern("_inner.transpose(-2, -1)")
_NARROW = ("bfloat16", "float16")


def match(term: Term, reading: Reading) -> Found | None:
    found = _PRODUCT.match(term, reading)
    if found is None:
        return None
    wide = [reading.tensor(found[key]).dtype for key in ("first", "second")]
    narrow = [reading.tensor(_narrow(found[key], reading)[0]).dtype for key in ("first", "second")]
    if wide != ["float32", "float32"] or narrow[0] != narrow[1] or narrow[0] not in _NARROW:
        return None
    return {**found, "whole": term}


def rewrite(found: Found, reading: Reading, writer: Writer) -> str:
    (first, turned), (second, turned_second) = (_narrow(found[key], reading) for key in ("first", "second"))
    suffixes = ["" if not t else ".transpose(-2, -1)" for t in (turned, turned_second)]
    product = f"torch.matmul({writer.text(first)}{suffixes[0]}, {writer.text(second)}{suffixes[1]})"
    wanted = reading.tensor(found["whole"]).dtype
    return product if reading.tensor(first).dtype == wanted else f"{product}.to(torch.{wanted})"


def _narrow(term: Term, reading: Reading) -> tuple[Term, bool]:
    """The operand before it was widened, and whether it was transposed after that."""
    turned = _TURNED.match(term, reading)
    if turned is not None:
        return uncast(turned["inner"], reading), True
    return uncast(term, reading), False


RULE = Rule("narrow_matmul", "lower-precision", match, rewrite)
