"""The seam of checks: what the trusted side knows of one call, and what may be wrong with it."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import torch

from guard.compare import Figures, compare
from guard.verdict import PrecisionPolicy, ReasonCode
from tasks.value import Value
from tasks.workload import Tolerance


class Finding(Value):
    code: ReasonCode
    message: str


@dataclass(frozen=True)
class CallRecord:
    """One call as the trusted side saw it; tensors lie in memory that the candidate cannot name."""

    given: Sequence[Any]
    """What was written into the input buffer, from the reference's own copy."""
    seen: Sequence[Any]
    """The input buffer's tensors after the call; scalars as they were."""
    outputs: Sequence[torch.Tensor]
    expected: Sequence[torch.Tensor]
    names: Sequence[str]
    poison: Sequence[torch.Tensor | None]
    """Of each output, the one-element pattern that filled it before; None where it was not poisoned."""
    tolerance: Tolerance
    policy: PrecisionPolicy = "tolerance"
    honest: Sequence[float] | None = None
    """Of each output, the root mean square by which the reference moves when its inputs move by one rounding step."""

    before: Sequence[torch.Tensor] | None = None
    """Of each output, what was expected of the call before, where this one asks nearly the same."""

    is_beyond: bool = False
    """Whether the values lie outside of what the tolerance was measured on: then the policy alone judges them."""

    @cached_property
    def figures(self) -> tuple[Figures, ...]:
        """The official figures of each output, computed once for all who ask."""
        return tuple(compare(o, e, self.tolerance) for o, e in zip(self.outputs, self.expected, strict=True))


Check = Callable[[CallRecord], Finding | None]


def same_bits(a: torch.Tensor, b: torch.Tensor) -> bool:
    """Bit equality, so that NaN equals itself; both of one shape and dtype."""
    if a.numel() == 0:
        return True
    integer = {1: torch.uint8, 2: torch.int16, 4: torch.int32, 8: torch.int64}[a.element_size()]
    return bool(torch.equal(a.contiguous().view(integer), b.contiguous().view(integer)))
