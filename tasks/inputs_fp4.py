"""Four-bit E2M1 numbers, packed two to a byte: the even index in the low nibble."""

import torch

from tasks.errors import TaskError

_STEPS = (
    (torch.gt, 0.25), (torch.ge, 0.75), (torch.gt, 1.25), (torch.ge, 1.75),
    (torch.gt, 2.5), (torch.ge, 3.5), (torch.gt, 5.0),
)  # fmt: skip
"""A magnitude's code is the number of steps it has passed: codes 0..7 mean 0, .5, 1, 1.5, 2, 3, 4, 6.
Whether a tie goes up or down alternates, so that it always falls on an even code."""


def pack_fp4(values: torch.Tensor) -> torch.Tensor:
    """`values` (..., n) rounded to E2M1 as (..., n / 2) `float4_e2m1fn_x2`; NaN becomes 0.

    `TaskError` when there is no last axis of even length to pack.
    """
    if values.ndim == 0 or values.shape[-1] % 2:
        raise TaskError(
            f"random fp4 values of shape {list(values.shape)} cannot be packed two to a byte",
            field="shape", mend="give the last axis an even length",
        )  # fmt: skip
    codes = torch.zeros_like(values, dtype=torch.uint8)
    magnitude = values.abs()
    for passed, step in _STEPS:
        codes += passed(magnitude, step)
    codes += (values < 0).to(torch.uint8) * 8
    packed = codes[..., ::2] + codes[..., 1::2] * 16
    return packed.view(torch.float4_e2m1fn_x2)
