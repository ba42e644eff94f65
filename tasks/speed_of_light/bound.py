"""What a speed-of-light bound says, and the choice of how it is priced."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from tasks.value import Value

Pricing = Literal["published", "physical"]
"""By the rules behind the board's T_SOL, or by what the hardware can do at most."""


class Bound(Value):
    """The least time that one workload can take."""

    uuid: str
    axes: dict[str, int]
    t_sol_ms: float
    bound_by: str
    """The resource that binds: `memory`, or the arithmetic of the matrix units, such as `bf16`."""
    resources_ms: dict[str, float]
    """What each resource alone would take."""
    note: str = ""
    """What was assumed, in a sentence; empty when nothing was."""


def binding(uuid: str, axes: Mapping[str, int], resources_ms: Mapping[str, float], note: str = "") -> Bound:
    """The bound by the slowest of `resources_ms`; the first named wins a tie."""
    slowest = max(resources_ms, key=lambda name: resources_ms[name])
    return Bound(
        uuid=uuid,
        axes=dict(axes),
        t_sol_ms=resources_ms[slowest],
        bound_by=slowest,
        resources_ms=dict(resources_ms),
        note=note,
    )
