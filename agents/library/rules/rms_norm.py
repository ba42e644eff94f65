"""x / sqrt(mean(x^2) + eps), with or without a gain: `torch.nn.functional.rms_norm`."""

from agents.library.rules.base import Rule, Writer
from agents.library.rules.norm import is_number, normalised_call
from agents.reading.pattern import Found, Pattern
from agents.reading.reading import Reading
from agents.reading.term import Term

MEAN_SQUARE = "torch.mean(_x ** 2, dim=-1, keepdim=True)"
RMS_CORE = (
    f"_x * torch.rsqrt({MEAN_SQUARE} + _eps)",
    f"_x / torch.sqrt({MEAN_SQUARE} + _eps)",
)

_WITH_GAIN = Pattern("cast(cast({core}) * cast(_weight))", core=RMS_CORE)
_BARE = Pattern("cast({core})", core=RMS_CORE)


def match(term: Term, reading: Reading) -> Found | None:
    for found in _WITH_GAIN.matches(term, reading):
        if reading.tensor(found["weight"]).rank == 1 and is_number(found["eps"], reading):
            return {**found, "whole": term}
    for found in _BARE.matches(term, reading):
        if is_number(found["eps"], reading):
            return {**found, "whole": term}
    return None


def rewrite(found: Found, reading: Reading, writer: Writer) -> str:
    return normalised_call("rms_norm", found, reading, writer)


RULE = Rule("rms_norm", "reassociated", match, rewrite)
