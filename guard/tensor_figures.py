"""Single figures of tensors: how long, whether finite, how far apart."""

from collections.abc import Sequence

import torch

_PIECE = 1 << 24


def span_bytes(tensor: torch.Tensor) -> int:
    if tensor.numel() == 0:
        return 0
    span = 1 + sum((size - 1) * stride for size, stride in zip(tensor.shape, tensor.stride(), strict=True))
    return span * tensor.element_size()


def all_finite(tensors: Sequence[torch.Tensor]) -> bool:
    """In pieces, for the largest outputs leave no room for a second set of themselves, however narrow."""
    return all(
        bool(torch.isfinite(piece.to(torch.float32)).all())
        for tensor in tensors
        if tensor.is_floating_point()
        for piece in (tensor.view(-1) if tensor.is_contiguous() else tensor.reshape(-1)).split(_PIECE)
    )


def rms(a: torch.Tensor, b: torch.Tensor) -> float:
    """Root mean square of the difference, where both are finite; 0 for types that do not round."""
    if not a.is_floating_point() or a.numel() == 0:
        return 0.0
    difference = a.to(torch.float32) - b.to(torch.float32)
    finite = torch.isfinite(difference)
    return float(torch.where(finite, difference, 0.0).square().mean().sqrt())
