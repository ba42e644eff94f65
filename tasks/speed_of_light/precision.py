"""The cheapest arithmetic that a tolerance leaves room for: a bound must hold for whatever may pass."""

from __future__ import annotations

from collections.abc import Collection

from tasks.gpu import Arithmetic, Gpu
from tasks.workload import Tolerance

SAFETY = 2.0
"""Results may be this much smaller than one and still pass where the table below says so."""
_ERROR_99: dict[Arithmetic, float] = {"fp8": 0.095, "nvfp4": 0.36}
"""What 99 of 100 elements of a product with unit-scale results stay within, when both factors are rounded to
the format: 2.58 times a relative error of 0.037 (e4m3) and 0.14 (e2m1 with a scale for each 16)."""
_INTEGER: frozenset[Arithmetic] = frozenset({"int8"})


def cheapest(
    declared: Arithmetic, tolerance: Tolerance, used: Collection[Arithmetic], gpu: Gpu
) -> Arithmetic:
    """The fastest format on `gpu` in which a product declared as `declared` may pass.

    16-bit formats always may: fp32 can be put together from several such products, which takes no less time.
    fp8 and nvfp4 may where the problem's own tensors are in them (`used`) or the absolute tolerance is wide
    enough. Integer products stay what they are.
    """
    if declared in _INTEGER:
        return declared
    formats: list[Arithmetic] = [declared, "bf16", *used]
    formats += [f for f, error in _ERROR_99.items() if tolerance.max_atol >= error / SAFETY]
    return max(formats, key=gpu.peak)
