"""What a problem's tolerance lets through: answers that nobody would call right, each one a kind, one file a family."""

from guard.audit.base import Alternative
from guard.audit.careless import IDENTITY, MEAN, SHUFFLED_ROWS, UNFINISHED_TAIL, ZEROS
from guard.audit.coarse import ROUNDED_INPUTS

ALTERNATIVES: dict[str, Alternative] = {
    alternative.name: alternative
    for alternative in (ZEROS, MEAN, IDENTITY, SHUFFLED_ROWS, UNFINISHED_TAIL, *ROUNDED_INPUTS)
}

__all__ = ["ALTERNATIVES", "Alternative"]
