"""softmax(query @ key^T * scale + mask) @ value: `scaled_dot_product_attention`."""

from agents.library.rules.attention_form import AttentionForm, attention_call, find_attention
from agents.library.rules.base import Rule, Writer
from agents.reading.pattern import Found
from agents.reading.reading import Reading
from agents.reading.term import Term


def match(term: Term, reading: Reading) -> Found | None:
    form = find_attention(term, reading)
    return None if form is None else form.found


def rewrite(found: Found, reading: Reading, writer: Writer) -> str:
    return attention_call(AttentionForm(found), reading, writer)


RULE = Rule("scaled_dot_product_attention", "reassociated", match, rewrite)
