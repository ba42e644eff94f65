"""x * sigmoid(x): `torch.nn.functional.silu`."""

from agents.library.rules.activation import activation_call, activation_match
from agents.library.rules.base import Rule
from agents.reading.pattern import Pattern

_SILU = Pattern("cast(_x * torch.sigmoid(_x))", "cast(_x / (1 + torch.exp(-_x)))")

RULE = Rule("silu", "reassociated", activation_match(_SILU), activation_call("silu({x})"))
