"""The tanh form of GELU written out: `torch.nn.functional.gelu(x, approximate="tanh")`."""

import math

from agents.library.rules.activation import activation_call, activation_match
from agents.library.rules.base import Rule
from agents.reading.pattern import Found, Pattern
from agents.reading.reading import Reading

_INNER = ("_k * (_x + 0.044715 * _x ** 3)", "_k * _x * (1 + 0.044715 * _x ** 2)")
_GELU = Pattern(
    "cast(0.5 * _x * (1 + torch.tanh({inner})))", "cast(_x * (0.5 * (1 + torch.tanh({inner}))))", inner=_INNER
)


def _is_square_root_of_two_over_pi(found: Found, reading: Reading) -> bool:
    value = reading.scalar(found["k"])
    return isinstance(value, float) and abs(value - math.sqrt(2 / math.pi)) < 1e-6


RULE = Rule(
    "gelu_tanh",
    "reassociated",
    activation_match(_GELU, _is_square_root_of_two_over_pi),
    activation_call('gelu({x}, approximate="tanh")'),
)
