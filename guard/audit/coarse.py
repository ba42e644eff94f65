"""Right answers to inputs that were first rounded to a narrower type: what computing in it would keep at best."""

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import torch

from guard.audit.base import Alternative, Answer, Tensors

_TF32_DROPPED_BITS = 13
_E4M3_LARGEST = 448.0


def _through(dtype: torch.dtype) -> Callable[[torch.Tensor], torch.Tensor]:
    def there_and_back(value: torch.Tensor) -> torch.Tensor:
        largest = torch.finfo(dtype).max
        return value.clamp(-largest, largest).to(dtype).to(torch.float32)

    return there_and_back


def _tf32(value: torch.Tensor) -> torch.Tensor:
    """Ten bits of mantissa, rounded to the nearest, ties to even."""
    bits = value.view(torch.int32)
    odd = (bits >> _TF32_DROPPED_BITS) & 1
    rounded = bits + ((1 << (_TF32_DROPPED_BITS - 1)) - 1) + odd
    return (rounded & ~((1 << _TF32_DROPPED_BITS) - 1)).view(torch.float32)


def _fp8(value: torch.Tensor) -> torch.Tensor:
    """E4M3 with one scale a tensor, as honest fp8 kernels use it."""
    scale = value.abs().amax().clamp(min=1e-30) / _E4M3_LARGEST
    return (value / scale).to(torch.float8_e4m3fn).to(torch.float32) * scale


_TYPES: dict[str, tuple[int, Callable[[torch.Tensor], torch.Tensor]]] = {
    "tf32": (10, _tf32),
    "fp16": (10, _through(torch.float16)),
    "bf16": (7, _through(torch.bfloat16)),
    "fp8": (3, _fp8),
}
"""Bits of mantissa, and the way there and back in fp32."""
_MANTISSA = {torch.float64: 52, torch.float32: 23, torch.float16: 10, torch.bfloat16: 7}


def _rounded(name: str, inputs: Sequence[Any], expected: Tensors, answer: Answer) -> Tensors | None:
    """None where no input is wider than the type, so that nothing would change."""
    bits, there_and_back = _TYPES[name]
    coarse = [there_and_back(i.to(torch.float32)).to(i.dtype) if _is_wider(i, bits) else i for i in inputs]
    if all(new is old for new, old in zip(coarse, inputs, strict=True)):
        return None
    return answer(coarse)


def _is_wider(value: Any, bits: int) -> bool:
    return isinstance(value, torch.Tensor) and value.numel() > 0 and _MANTISSA.get(value.dtype, 0) > bits


ROUNDED_INPUTS = tuple(
    Alternative(f"{name}-inputs", f"inputs rounded to {name} before the reference", partial(_rounded, name))
    for name in _TYPES
)
