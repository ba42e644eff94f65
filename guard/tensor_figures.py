"""Single figures of tensors: how long, whether finite, how far apart."""

from collections.abc import Sequence

import torch

_PIECE = 1 << 24
_TELLING = 1 << 20


def span_bytes(tensor: torch.Tensor) -> int:
    if tensor.numel() == 0:
        return 0
    span = 1 + sum((size - 1) * stride for size, stride in zip(tensor.shape, tensor.stride(), strict=True))
    return span * tensor.element_size()


def all_finite(tensors: Sequence[torch.Tensor]) -> bool:
    """By the extremes of pieces: NaN is both of them, looking at every element takes a CPU sixty times as long, and the
    largest tensors leave no room for a second set of themselves."""
    return all(
        bool(torch.isfinite(torch.stack(torch.aminmax(_comparable(piece)))).all())
        for tensor in tensors
        if tensor.is_floating_point() and tensor.numel()
        for piece in tensor.reshape(-1).split(_PIECE)
    )


def _comparable(piece: torch.Tensor) -> torch.Tensor:
    return piece if piece.element_size() in (2, 4) else piece.to(torch.float32)


def first_values(tensor: torch.Tensor) -> torch.Tensor:
    """Of a contiguous tensor, as many as tell how its values spread, in fp32."""
    return tensor.view(-1)[:_TELLING].to(torch.float32)


def has_no_sign(some: torch.Tensor) -> bool:
    """Whether finite values lie about zero; not so of those that are all the same."""
    return bool(some.mean().abs() < 0.1 * some.std())


def rms(a: torch.Tensor, b: torch.Tensor) -> float:
    """Root mean square of the difference, where both are finite; 0 for types that do not round."""
    if not a.is_floating_point() or a.numel() == 0:
        return 0.0
    difference = a.to(torch.float32) - b.to(torch.float32)
    finite = torch.isfinite(difference)
    return float(torch.where(finite, difference, 0.0).square().mean().sqrt())
