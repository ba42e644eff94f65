"""What the rules for activations share: a function of one tensor that is computed wide and rounded once."""

from collections.abc import Callable

from agents.library.rules.base import Writer
from agents.reading.pattern import Found, Pattern, uncast
from agents.reading.reading import Reading
from agents.reading.term import Term


def activation_match(
    pattern: Pattern, holds: Callable[[Found, Reading], bool] = lambda found, reading: True
) -> Callable[[Term, Reading], Found | None]:
    def match(term: Term, reading: Reading) -> Found | None:
        for found in pattern.matches(term, reading):
            if holds(found, reading):
                return {**found, "whole": term}
        return None

    return match


def activation_call(call: str) -> Callable[[Found, Reading, Writer], str]:
    """`call` is the text after `torch.nn.functional.`, with `{x}` for its argument."""

    def rewrite(found: Found, reading: Reading, writer: Writer) -> str:
        wanted = reading.tensor(found["whole"]).dtype
        plain = uncast(found["x"], reading)
        # the library computes bf16 and fp16 in fp32 and rounds once, as the reference spells out
        if wanted is not None and reading.tensor(plain).dtype == wanted:
            return "torch.nn.functional." + call.format(x=writer.text(plain))
        suffix = "" if wanted == reading.tensor(found["x"]).dtype else f".to(torch.{wanted})"
        return "torch.nn.functional." + call.format(x=writer.text(found["x"])) + suffix

    return rewrite
