"""Every rule by name, in the order in which they are applied; add one by a file and a line here."""

from collections.abc import Iterator

from agents.rewrite.program import Program
from agents.rewrite.rules.attention import FUSED as ATTENTION
from agents.rewrite.rules.attention import NARROW as NARROW_ATTENTION
from agents.rewrite.rules.attention_backward import FUSED as ATTENTION_GRADIENTS
from agents.rewrite.rules.attention_backward import NARROW as NARROW_ATTENTION_GRADIENTS
from agents.rewrite.rules.base import Rule
from agents.rewrite.rules.block_scaled import NATIVE as FP8_BLOCK_SCALED
from agents.rewrite.rules.block_scaled import RULE as BLOCK_SCALED
from agents.rewrite.rules.channels_last import RULE as CHANNELS_LAST
from agents.rewrite.rules.counting_sort import RULE as COUNTING_SORT
from agents.rewrite.rules.depthwise import RULE as DEPTHWISE
from agents.rewrite.rules.group_norm import RULE as GROUP_NORM
from agents.rewrite.rules.quantised import RULE as QUANTISED
from agents.rewrite.rules.selection import RULE as SELECTION
from agents.rewrite.rules.wide_product import RULE as WIDE_PRODUCT

RULES: dict[str, Rule] = {
    rule.name: rule
    for rule in (
        ATTENTION,
        ATTENTION_GRADIENTS,
        DEPTHWISE,
        GROUP_NORM,  # before channels_last, whose layout its kernel then writes
        CHANNELS_LAST,
        COUNTING_SORT,
        SELECTION,
        NARROW_ATTENTION,
        NARROW_ATTENTION_GRADIENTS,
        QUANTISED,
        FP8_BLOCK_SCALED,
        BLOCK_SCALED,
        WIDE_PRODUCT,  # after those that want the products of an attention as they are
    )
}

Applied = tuple[tuple[Rule, ...], Program]


def rewritings(program: Program) -> Iterator[Applied]:
    """The program after every rule that keeps the precision, then after all of them; nothing where none matches."""
    faithful = tuple(rule for rule in RULES.values() if rule.consequence != "lower-precision")
    seen: list[tuple[Rule, ...]] = [()]
    for wanted in (faithful, tuple(RULES.values())):
        applied = _applied(program, wanted)
        if applied[0] not in seen:
            seen.append(applied[0])
            yield applied


def _applied(program: Program, wanted: tuple[Rule, ...]) -> Applied:
    found: list[Rule] = []
    for rule in wanted:
        after = rule.apply(program)
        if after is not None:
            program = after
            found.append(rule)
    return tuple(found), program


__all__ = ["RULES", "Rule", "rewritings"]
