"""A product of fp8 matrices that are widened and scaled: `torch._scaled_mm`, which scales after the product.

Holds for one scale a tensor and for one scale a row of either operand. Products of two fp8 numbers are exact in
fp32, so only the order of scaling and summing changes.
"""

from agents.library.rules.base import Rule, Writer
from agents.reading.pattern import Found, Pattern
from agents.reading.reading import Reading
from agents.reading.term import Term

_SCALED_FIRST = ("cast(_first) * _first_scale",)
_SCALED_SECOND = ("cast(_second) * _second_scale",)
_PRODUCT = Pattern(
    "cast(torch.matmul(cast({a}), cast({b}).transpose(-2, -1)))",
    "cast(torch.matmul(cast(_first), cast(_second).transpose(-2, -1)) * _first_scale * _second_scale)",
    "cast(torch.matmul(cast(_first), cast(_second).transpose(-2, -1)) * (_first_scale * _second_scale))",
    a=_SCALED_FIRST,
    b=_SCALED_SECOND,
)
_FP8 = ("float8_e4m3fn", "float8_e5m2")
_OUT = ("bfloat16", "float16", "float32")


def match(term: Term, reading: Reading) -> Found | None:
    for found in _PRODUCT.matches(term, reading):
        first, second = reading.tensor(found["first"]), reading.tensor(found["second"])
        narrow = first.dtype in _FP8 and second.dtype in _FP8 and first.rank == second.rank == 2
        scales = (
            _scale(found["first_scale"], found["first"], reading),
            _scale(found["second_scale"], found["second"], reading),
        )
        # the library knows one scale a tensor for both, or one a row for both
        if narrow and scales[0] == scales[1] is not None and reading.tensor(term).dtype in _OUT:
            return {**found, "whole": term}
    return None


def rewrite(found: Found, reading: Reading, writer: Writer) -> str:
    by_row = _scale(found["first_scale"], found["first"], reading) == "row"
    first_scale, second_scale = writer.text(found["first_scale"]), writer.text(found["second_scale"])
    if by_row:
        first_scale, second_scale = (
            f"{first_scale}.float().contiguous()",
            f"{second_scale}.float().T.contiguous()",
        )
    else:
        first_scale, second_scale = (
            f"torch.as_tensor({s}, dtype=torch.float32, device={writer.text(found['first'])}.device).reshape(())"
            for s in (first_scale, second_scale)
        )
    operands = f"{writer.text(found['first'])}, {writer.text(found['second'])}.T"
    wanted = reading.tensor(found["whole"]).dtype
    return f"torch._scaled_mm({operands}, {first_scale}, {second_scale}, out_dtype=torch.{wanted})"


def _scale(term: Term, operand: Term, reading: Reading) -> str | None:
    """`tensor` for one number, `row` for a column vector as long as the operand, None for anything else."""
    from agents.reading.kinds import Scalar

    kind = reading.kind(term)
    if isinstance(kind, Scalar):
        return "tensor"
    shape, rows = reading.tensor(term).shape, reading.tensor(operand).shape
    if shape is None or rows is None:
        return None
    if all(size == 1 for size in shape):
        return "tensor"
    return "row" if shape == (rows[0], 1) and rows[0] is not None else None


RULE = Rule("scaled_mm", "reassociated", match, rewrite)
