"""(x - mean) / sqrt(variance + eps), with gain and offset or without: `torch.nn.functional.layer_norm`."""

from agents.library.rules.base import Rule, Writer
from agents.library.rules.norm import is_number, normalised_call
from agents.reading.pattern import Found, Pattern
from agents.reading.reading import Reading
from agents.reading.term import Term

CENTRED = "(_x - torch.mean(_x, dim=-1, keepdim=True))"
VARIANCES = (
    f"torch.mean({CENTRED} ** 2, dim=-1, keepdim=True)",
    "torch.var(_x, dim=-1, correction=0, keepdim=True)",
)
LAYER_CORE = tuple(
    text
    for variance in VARIANCES
    for text in (f"{CENTRED} * torch.rsqrt({variance} + _eps)", f"{CENTRED} / torch.sqrt({variance} + _eps)")
)

_AFFINE = Pattern("cast(cast(cast({core}) * cast(_weight)) + cast(_bias))", core=LAYER_CORE)
_WITH_GAIN = Pattern("cast(cast({core}) * cast(_weight))", core=LAYER_CORE)
_BARE = Pattern("cast({core})", core=LAYER_CORE)


def match(term: Term, reading: Reading) -> Found | None:
    for pattern, parameters in ((_AFFINE, ("weight", "bias")), (_WITH_GAIN, ("weight",)), (_BARE, ())):
        for found in pattern.matches(term, reading):
            vectors = all(reading.tensor(found[key]).rank == 1 for key in parameters)
            if vectors and is_number(found["eps"], reading):
                return {**found, "whole": term}
    return None


def rewrite(found: Found, reading: Reading, writer: Writer) -> str:
    return normalised_call("layer_norm", found, reading, writer)


RULE = Rule("layer_norm", "reassociated", match, rewrite)
