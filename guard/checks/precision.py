"""Accuracy by policy: what passes the official tolerance may still be less accurate than rounding explains.

Tolerances are wide, so an honest measure is needed of what rounding does to this very problem: the reference's
own response to inputs that were moved by one rounding step of the arithmetic that the policy allows. Skipped
elements, subsampled sums and constants lie far outside of it; another order of summation lies within.
"""

import torch

from guard.checks.base import CallRecord, Finding
from guard.verdict import PrecisionPolicy, ReasonCode

ROUNDING_STEP: dict[PrecisionPolicy, float | None] = {"strict": None, "reference": None, "tolerance": 2.0**-4}
"""Relative step by which inputs are moved; None: one step of their own dtype. 2^-4 is float8's."""
_BUDGET: dict[PrecisionPolicy, float] = {"strict": 64.0, "reference": 64.0, "tolerance": 8.0}
"""How often that response may be exceeded."""
_OF_HALVES = (1.0, 8.0)
"""The same under `strict` where all is declared in sixteen bits: by the mean, and by single elements.

One step of theirs moves an answer by more than all the roundings of an honest kernel together: means of 0.15
to 0.31 were seen on the shipped tasks, 2.5 in products of float8, and 1.2 in products of eight-bit integers. The order
of a sum, which asks for more room, is a matter of its accumulator, and that has 32 bits."""
_OUTLIERS = 1e-3
_ANOTHER_ANSWER = 0.5
"""A mean error of so much of the mean answer is no lack of precision, where no tolerance was asked before."""


def precision(record: CallRecord) -> Finding | None:
    """Mean error, and the share of elements that are off by far more than rounding."""
    if record.honest is None:
        return None
    budget, single = _budgets(record)
    for name, output, expected, honest in zip(
        record.names, record.outputs, record.expected, record.honest, strict=True
    ):
        if not output.is_floating_point() or output.numel() == 0:
            continue
        error, wanted = _finite_error(output, expected)
        step = torch.finfo(output.dtype).eps
        scale = max(honest, step * float(wanted.mean()))
        mean = float(error.mean())
        if mean > budget * scale:
            said = f"mean error {mean:.3g}, {mean / scale:.3g} times what rounding explains ({scale:.3g})"
            is_another = record.is_beyond and mean > _ANOTHER_ANSWER * float(wanted.mean())
            return Finding(
                code=ReasonCode.NUMERICAL if is_another else ReasonCode.PRECISION,
                message=f"output {name!r}: {said}; policy {record.policy}",
            )
        far = float((error > single * torch.clamp(step * wanted, min=scale)).float().mean())
        if far > _OUTLIERS:
            said = f"{far:.2%} of the elements are off by far more than rounding"
            return Finding(
                code=ReasonCode.PRECISION, message=f"output {name!r}: {said}; policy {record.policy}"
            )
    return None


def _budgets(record: CallRecord) -> tuple[float, float]:
    sizes = {v.element_size() for v in record.given if isinstance(v, torch.Tensor) and v.is_floating_point()}
    if record.policy == "strict" and sizes == {2}:
        return _OF_HALVES
    return _BUDGET[record.policy], _BUDGET[record.policy]


def _finite_error(output: torch.Tensor, expected: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """|output - expected| and |expected| in fp32, 0 where both are the same infinity."""
    out, ref = output.to(torch.float32), expected.to(torch.float32)
    both = torch.isfinite(ref)
    return torch.where(both, out - ref, 0.0).abs(), torch.where(both, ref, 0.0).abs()


def moved(inputs: tuple[object, ...], step: float | None, seed: int) -> list[object]:
    """The inputs with every floating-point element moved up or down by one relative step, at random.

    Narrow types (float8, float4), integers and scalars stay: their values are what is stored, and exact.
    """
    found: list[object] = []
    for position, value in enumerate(inputs):
        if not isinstance(value, torch.Tensor) or not value.is_floating_point() or value.element_size() < 2:
            found.append(value)
            continue
        dice = torch.Generator(device=value.device).manual_seed(seed + position)
        signs = (
            torch.randint(0, 2, value.shape, generator=dice, device=value.device, dtype=torch.int8) * 2 - 1
        )
        relative = torch.finfo(value.dtype).eps if step is None else max(step, torch.finfo(value.dtype).eps)
        found.append((value.to(torch.float32) * (1 + relative * signs)).to(value.dtype))
    return found
