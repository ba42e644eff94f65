"""The official comparison of outputs with expected outputs, its figures, and how figures are kept.

Facts from the public evaluator (NVIDIA/SOL-ExecBench, commit 8d2237d); tests hold cases recorded from it.
Everything is compared in fp32, in pieces, so that memory stays bounded whatever the size of an output.
"""

from collections.abc import Iterator, Sequence

import torch

from tasks.errors import TaskError
from tasks.trace import Correctness, Status
from tasks.value import Value
from tasks.workload import Tolerance

CHUNK_BYTES = 64 * 2**20
_FP32_COPIES = 6
"""fp32 tensors alive at once while a piece is compared, the two operands included."""


class Figures(Value):
    """How one output differs from what was expected.

    NaN or Inf: the errors are 0.0 and only the flag speaks. An all-zero output where something was expected:
    both errors are the Euclidean norm of what was expected. In both cases no ratio is taken (0.0).
    """

    max_absolute_error: float = 0.0
    max_relative_error: float = 0.0
    """Largest |out - ref| / max(|ref|, max_atol)."""
    has_nan: bool = False
    has_inf: bool = False
    matched_ratio: float = 1.0
    """Share of the elements within tolerance, of those that count."""
    passes: bool = True

    @property
    def correctness(self) -> Correctness:
        """As a trace records it. Errors past fp32's range, which a trace cannot hold, become its largest."""
        return Correctness(
            max_absolute_error=_finite(self.max_absolute_error),
            max_relative_error=_finite(self.max_relative_error),
            has_nan=self.has_nan,
            has_inf=self.has_inf,
        )


NOTHING_YET = Figures()


def interface_status(outputs: Sequence[torch.Tensor], expected: Sequence[torch.Tensor]) -> Status | None:
    """INCORRECT_SHAPE or INCORRECT_DTYPE by the first output that differs (shape is looked at first)."""
    for output, wanted in zip(outputs, expected, strict=True):
        if output.shape != wanted.shape:
            return Status.INCORRECT_SHAPE
        if output.dtype != wanted.dtype:
            return Status.INCORRECT_DTYPE
    return None


def compare_round(
    outputs: Sequence[torch.Tensor],
    expected: Sequence[torch.Tensor],
    tolerance: Tolerance,
    kept: Figures = NOTHING_YET,
    chunk_bytes: int = CHUNK_BYTES,
) -> tuple[Status | None, Figures]:
    """One call's outputs, in definition order: what is wrong, if anything, and the figures kept so far.

    Comparing stops at the first output that fails; shape and dtype are checked before any value. Feed the
    figures returned into the next round; stop the rounds at the first status.
    """
    status = interface_status(outputs, expected)
    if status is not None:
        return status, kept
    for output, wanted in zip(outputs, expected, strict=True):
        figures = compare(output, wanted, tolerance, chunk_bytes)
        kept = keep(kept, figures)
        if not figures.passes:
            return Status.INCORRECT_NUMERICAL, kept
    return None, kept


def keep(kept: Figures, new: Figures) -> Figures:
    """Which record stands after `new`, as officially: the one with the larger absolute error, the first at a tie.

    NaN displaces everything, Inf everything without NaN. The matched ratio is the smallest, and whether all
    passed is kept too, which the official record does not hold.
    """
    displaced = (
        new.max_absolute_error > kept.max_absolute_error or new.has_nan or (new.has_inf and not kept.has_nan)
    )
    return (new if displaced else kept).model_copy(
        update={
            "matched_ratio": min(kept.matched_ratio, new.matched_ratio),
            "passes": kept.passes and new.passes,
        }
    )


def compare(
    output: torch.Tensor, expected: torch.Tensor, tolerance: Tolerance, chunk_bytes: int = CHUNK_BYTES
) -> Figures:
    """The figures of one output of the same shape as `expected`, on the same device.

    About `chunk_bytes` of memory is taken beside the two tensors, and a copy of one that is not contiguous;
    an all-zero output of another type than fp32 costs fp32 copies of both. fp4 outputs raise
    `TaskError`: torch cannot convert them, and neither can the public evaluator.
    """
    pieces = _Pieces(output, expected, chunk_bytes)
    failed = _not_finite(pieces, tolerance.allow_negative_inf)
    # squares may underflow in outputs that are not zero: there the norm itself decides, as officially
    if failed is None and _vanishes(pieces) and (norm := _norm(expected)) > 0 and _norm(output) == 0:
        failed = Figures(max_absolute_error=norm, max_relative_error=norm, matched_ratio=0.0, passes=False)
    return failed or _errors(pieces, tolerance)


class _Pieces:
    """The same stretch of both tensors, in fp32, one stretch after the other; may be walked repeatedly."""

    def __init__(self, output: torch.Tensor, expected: torch.Tensor, chunk_bytes: int) -> None:
        if torch.float4_e2m1fn_x2 in (output.dtype, expected.dtype):
            raise TaskError(
                "fp4 outputs cannot be compared, officially neither",
                field="outputs",
                mend="return another dtype",
            )
        self._output, self._expected = output.reshape(-1), expected.reshape(-1)
        self._length = max(chunk_bytes // (4 * _FP32_COPIES), 1)

    def __iter__(self) -> Iterator[tuple[torch.Tensor, torch.Tensor]]:
        for start in range(0, self._expected.numel(), self._length):
            stretch = slice(start, start + self._length)
            yield self._output[stretch].to(torch.float32), self._expected[stretch].to(torch.float32)


def _both_negative_inf(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    return torch.isneginf(x) & torch.isneginf(y)


def _not_finite(pieces: _Pieces, allow_negative_inf: bool) -> Figures | None:
    """The failure when NaN or Inf stands in either tensor; agreeing ones fail too, but for allowed -inf."""
    nan = infinite = False
    for x, y in pieces:
        wrong = ~(torch.isfinite(x) & torch.isfinite(y))
        if allow_negative_inf:
            wrong &= ~_both_negative_inf(x, y)
        infinite = infinite or bool(wrong.any())
        nan = nan or bool((torch.isnan(x) | torch.isnan(y)).any())
    if not infinite:
        return None
    return Figures(has_nan=nan, has_inf=not nan, matched_ratio=0.0, passes=False)


def _vanishes(pieces: _Pieces) -> bool:
    """Whether no square of the output is above zero; almost always settled by the first piece."""
    return not any(bool(torch.square(x).any()) for x, _ in pieces)


def _norm(tensor: torch.Tensor) -> float:
    return float(torch.linalg.vector_norm(tensor.to(torch.float32)).item())


def _errors(pieces: _Pieces, tolerance: Tolerance) -> Figures:
    largest: list[torch.Tensor] = []
    relative: list[torch.Tensor] = []
    wrong = total = 0
    for x, y in pieces:
        if tolerance.allow_negative_inf:
            counted = ~_both_negative_inf(x, y)
            x, y = x[counted], y[counted]
        if x.numel() == 0:
            continue
        error, size = (x - y).abs_(), y.abs()
        bound = tolerance.max_atol + tolerance.max_rtol * size
        wrong += int(((error > bound) | ~torch.isfinite(error)).sum().item())
        total += error.numel()
        largest.append(error.max())
        relative.append((error / size.clamp_(min=tolerance.max_atol)).max())
    if total == 0:
        return Figures()
    worst = float(torch.stack(largest).max().item())
    # in this order of operations: whether floor(n / 100) wrong elements pass hangs on the last bit
    ratio = max(0.0, min(1.0, 1.0 - float(wrong) / float(total)))
    capped = tolerance.max_error_cap is not None and worst > tolerance.max_error_cap
    return Figures(
        max_absolute_error=worst,
        max_relative_error=float(torch.stack(relative).max().item()),
        matched_ratio=ratio,
        passes=not (ratio < tolerance.required_matched_ratio or capped),
    )


def _finite(figure: float) -> float:
    largest = torch.finfo(torch.float32).max
    return figure if figure <= largest else largest
