"""Every rule by name, in the order in which they are applied together; add one by a file and a line here."""

from agents.library.rules.addmm import RULE as ADDMM
from agents.library.rules.attention import RULE as ATTENTION
from agents.library.rules.baddbmm import RULE as BADDBMM
from agents.library.rules.base import Consequence, Rule
from agents.library.rules.gelu import RULE as GELU
from agents.library.rules.grouped_attention import RULE as GROUPED_ATTENTION
from agents.library.rules.layer_norm import RULE as LAYER_NORM
from agents.library.rules.linear import RULE as LINEAR
from agents.library.rules.merged_projections import RULE as MERGED_PROJECTIONS
from agents.library.rules.narrow_matmul import RULE as NARROW_MATMUL
from agents.library.rules.rms_norm import RULE as RMS_NORM
from agents.library.rules.scaled_mm import RULE as SCALED_MM
from agents.library.rules.silu import RULE as SILU
from agents.library.rules.softmax import RULE as SOFTMAX

RULES: dict[str, Rule] = {
    rule.name: rule
    for rule in (
        SOFTMAX,
        LAYER_NORM,  # before rms_norm, which a centred row looks like
        RMS_NORM,
        SILU,
        GELU,
        GROUPED_ATTENTION,
        ATTENTION,
        SCALED_MM,
        NARROW_MATMUL,
        ADDMM,
        BADDBMM,
        MERGED_PROJECTIONS,
        LINEAR,
    )
}

__all__ = ["RULES", "Consequence", "Rule"]
