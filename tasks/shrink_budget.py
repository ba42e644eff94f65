"""What a scaled-down workload may take."""

from typing import Literal

from tasks.value import Value


class ShrinkBudget(Value):
    """What one workload may take. Memory is a wall, operations are a wish.

    `memory_bytes` holds 2 x inputs + 3 x outputs + what the reference takes itself. `operations` are
    multiply-adds of one reference call (`tasks.effort` guesses both); where the smallest sizes that keep the
    alignment take more already, `slack` times as much is allowed, so that not all sizes become the smallest.
    """

    memory_bytes: int
    operations: int
    alignment: Literal[128, 16, 1] = 128
    """The most that is kept of an axis's divisibility."""
    slack: float = 1.5
    structural_operations: int = 0
    """Sizes of the model (widths, heads, experts) stay where the rest can be scaled down to this many operations:
    a kernel made for real widths then meets them."""
