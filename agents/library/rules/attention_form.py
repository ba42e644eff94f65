"""Recognising attention: the product with the values, then softmax, mask, scale and the product with the keys."""

from collections.abc import Iterator
from dataclasses import dataclass

from agents.library.rules.base import Writer
from agents.reading.kinds import Scalar
from agents.reading.pattern import Found, Pattern
from agents.reading.reading import Reading
from agents.reading.term import Term

_WEIGHTED_SUM = Pattern("torch.matmul(cast(torch.softmax(_scores, dim=-1, dtype=_softmax_type)), _value)")
_ADDED = Pattern("cast(_scores) + _bias")
_FILLED = Pattern("_scores.masked_fill(_hidden, _low)")
_CHOSEN = Pattern("torch.where(_seen, _scores, _low)")
_SCALED = Pattern("cast(_product) * _factor")
_DIVIDED = Pattern("cast(_product) / _divisor")
_PRODUCT = Pattern("cast(torch.matmul(_query, _key.transpose(-2, -1)))")

_STRICTLY_ABOVE = Pattern(
    "torch.ones(_rows, _columns, dtype=_type).triu(1)",
    "torch.triu(torch.ones((_rows, _columns), dtype=_type), 1)",
    "cast(torch.triu(torch.ones(_rows, _columns), 1))",
    "torch.triu(torch.full((_rows, _columns), _low), 1)",
)
_BELOW = Pattern(
    "torch.ones(_rows, _columns, dtype=_type).tril(0)", "cast(torch.tril(torch.ones(_rows, _columns), 0))"
)
_LOWEST = -1e9
"""What is added or filled in to hide a position; anything above it would leave some weight there."""


@dataclass(frozen=True)
class AttentionForm:
    """Holes: query, key, value, whole, and of factor, divisor, bias, hidden, seen, causal what there is."""

    found: Found


def find_attention(term: Term, reading: Reading) -> AttentionForm | None:
    """None as well when the operands' element types are not known to agree."""
    outer = _WEIGHTED_SUM.match(term, reading)
    if outer is None:
        return None
    for masked in _masks(outer["scores"], reading):
        for scaled in _scales(masked["scores"], reading):
            product = _PRODUCT.match(scaled["product"], reading)
            if product is not None:
                found = {**masked, **scaled, **product, "value": outer["value"], "whole": term}
                return AttentionForm(found) if _types_agree(found, reading) else None
    return None


def attention_call(form: AttentionForm, reading: Reading, writer: Writer, options: str = "") -> str:
    found = form.found
    query = writer.name(found["query"])
    operands = f"{query}, {writer.text(found['key'])}, {writer.text(found['value'])}"
    call = f"torch.nn.functional.scaled_dot_product_attention({operands}"
    return f"{call}{_mask(found, reading, writer, query)}, scale={_scale(found, writer)}{options})"


def _mask(found: Found, reading: Reading, writer: Writer, query: str) -> str:
    if "causal" in found:
        return ", is_causal=True"
    if "bias" in found:
        known = reading.tensor(found["bias"]).dtype == reading.tensor(found["query"]).dtype
        return f", attn_mask={writer.text(found['bias'])}{'' if known else f'.to({query}.dtype)'}"
    if "hidden" in found:
        return f", attn_mask=~{writer.text(found['hidden'])}"
    return f", attn_mask={writer.text(found['seen'])}" if "seen" in found else ""


def _scale(found: Found, writer: Writer) -> str:
    if "factor" in found:
        return writer.text(found["factor"])
    return f"1.0 / {writer.text(found['divisor'])}" if "divisor" in found else "1.0"


def _masks(scores: Term, reading: Reading) -> Iterator[Found]:
    """Every way to read `scores` as masked, the causal mask told from others; last as not masked at all."""
    for found in _ADDED.matches(scores, reading):
        yield _causal_or(found, found["bias"], _STRICTLY_ABOVE, reading)
    for found in _FILLED.matches(scores, reading):
        if _is_low(found["low"], reading):
            yield _causal_or(found, found["hidden"], _STRICTLY_ABOVE, reading)
    for found in _CHOSEN.matches(scores, reading):
        if _is_low(found["low"], reading):
            yield _causal_or(found, found["seen"], _BELOW, reading)
    yield {"scores": scores}


def _causal_or(found: Found, mask: Term, pattern: Pattern, reading: Reading) -> Found:
    triangle = pattern.match(mask, reading)
    if triangle is None or not reading.same(triangle["rows"], triangle["columns"]):
        return found
    if "low" in triangle and not _is_low(triangle["low"], reading):
        return found
    return {"scores": found["scores"], "causal": mask}


def _scales(scores: Term, reading: Reading) -> Iterator[Found]:
    for pattern, hole in ((_SCALED, "factor"), (_DIVIDED, "divisor")):
        for found in pattern.matches(scores, reading):
            if _is_scalar(found[hole], reading):
                yield found
    yield {"product": scores}


def _is_scalar(term: Term, reading: Reading) -> bool:
    return isinstance(reading.kind(term), Scalar)


def _is_low(term: Term, reading: Reading) -> bool:
    """Minus infinity, the lowest number of a type, or something like -1e9."""
    value, inner = reading.scalar(term), reading.look_through(term)
    if inner.op == "attribute" and inner.value == "min":
        return True
    return isinstance(value, int | float) and value <= _LOWEST


def _types_agree(found: Found, reading: Reading) -> bool:
    """The call wants one element type, and gives it back."""
    types = {reading.tensor(found[key]).dtype for key in ("query", "key", "value", "whole")}
    return len(types) == 1 and None not in types
