"""Ways to multiply matrices, and roundings; every product is of `a` [..., m, k] with `b` [..., n, k]."""

from collections.abc import Callable

import torch
from torch import Tensor

Product = Callable[[Tensor, Tensor], Tensor]
Rounding = Callable[[Tensor], Tensor]

E4M3_LARGEST = 448.0


def kept(x: Tensor) -> Tensor:
    return x.float()


def to_bf16(x: Tensor) -> Tensor:
    return x.to(torch.bfloat16).float()


def to_tf32(x: Tensor) -> Tensor:
    """To ten bits behind the point, ties away from zero."""
    bits = x.float().view(torch.int32)
    return ((bits + (1 << 12)) & ~((1 << 13) - 1)).view(torch.float32)


def to_fp8(x: Tensor) -> Tensor:
    """To e4m3 with one scale a row."""
    scale = x.float().abs().amax(dim=-1, keepdim=True).clamp(min=1e-12) / E4M3_LARGEST
    return (x.float() / scale).to(torch.float8_e4m3fn).float() * scale


def rounded(operand: Rounding) -> Product:
    """Operands rounded, products summed in fp32."""
    return lambda a, b: operand(a) @ operand(b).transpose(-1, -2)


exact = rounded(kept)
in_bf16 = rounded(to_bf16)
in_tf32 = rounded(to_tf32)
in_fp8 = rounded(to_fp8)


def split_in_bf16(a: Tensor, b: Tensor) -> Tensor:
    """Four partial sums, each rounded to bf16 before they are added, as split-K in bf16 does."""
    parts = zip(a.float().chunk(4, dim=-1), b.float().chunk(4, dim=-1), strict=True)
    return torch.stack([to_bf16(x @ y.transpose(-1, -2)) for x, y in parts]).sum(dim=0)


def half_of_k(a: Tensor, b: Tensor) -> Tensor:
    """Twice the product of the first half of k: a guess at the sum from half of its terms."""
    half = a.shape[-1] // 2
    return 2.0 * exact(a[..., :half], b[..., :half])
