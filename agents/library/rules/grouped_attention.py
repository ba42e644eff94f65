"""Attention whose keys and values are repeated for groups of heads: SDPA that reads each of them once."""

from agents.library.rules.attention_form import AttentionForm, attention_call, find_attention
from agents.library.rules.base import Rule, Writer
from agents.reading.pattern import Found, Pattern
from agents.reading.reading import Reading
from agents.reading.term import Term

_REPEATED = Pattern(
    "torch.repeat_interleave(_heads, _group, dim=1)",
    "_heads[:, :, None, :, :].expand(_sizes).reshape(_shape)",
    "_heads.unsqueeze(2).expand(_sizes).reshape(_shape)",
)


def match(term: Term, reading: Reading) -> Found | None:
    form = find_attention(term, reading)
    if form is None:
        return None
    key, value = (_before_repetition(form.found[name], reading) for name in ("key", "value"))
    if key is None or value is None:
        return None
    return {**form.found, "key": key, "value": value}


def rewrite(found: Found, reading: Reading, writer: Writer) -> str:
    return attention_call(AttentionForm(found), reading, writer, options=", enable_gqa=True")


def _before_repetition(term: Term, reading: Reading) -> Term | None:
    found = _REPEATED.match(term, reading)
    if found is None or reading.tensor(term).rank != 4:
        return None
    return found["heads"] if reading.tensor(found["heads"]).rank == 4 else None


RULE = Rule("grouped_attention", "reassociated", match, rewrite)
