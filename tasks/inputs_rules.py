"""The official rules by which random inputs are drawn: by name, shape, description and element type.

Facts from the public evaluator (NVIDIA/SOL-ExecBench, commit 8d2237d). The order of the rules, the number
of draws from torch's global generator and the element type of each draw decide every bit of the inputs, and
with them the error figures; tests hold digests recorded from the evaluator itself.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass

import torch

from tasks.definition import DType, Shape
from tasks.dtypes import FP4, FP8, torch_dtype
from tasks.errors import TaskError
from tasks.inputs_fp4 import pack_fp4

_DIGITS = "0123456789"
_WEIGHTS = (
    "_weight", "_weights", "_proj", "_projs", "_proj_weight", "_proj_weights", "_weight_matrix",
)  # fmt: skip
_MASKS = ("x_mask", "text_mask", "aspect_ratio_mask", "drop_mask", "attention_mask")
_BINARY_WORDS = ("binary", "{0, 1}", "0 or 1", "1.0 for valid", "0.0 for masked")
_COSINES, _SINES = ("cos", "cos_cached", "rope_cos"), ("sin", "sin_cached", "rope_sin")
_POSITIVE = ("rstd", "std", "variance", "var")
_DECAYS = {"A_cumsum": (-0.1, 0.0), "A_log": (-5.0, -1.0), "A": (-1.0, -0.001), "g": (-5.0, 0.0)}
_SOFTMAXED = ("attn_weights", "attention_weights", "routing_weights")
_INTEGER_RANGES = {
    DType.INT8: (-128, 128), DType.INT16: (-1024, 1024), DType.INT32: (-1024, 1024),
    DType.INT64: (-1024, 1024),
}  # fmt: skip


@dataclass(frozen=True)
class Wanted:
    """One random tensor that is to be drawn; `description` in lower case, empty when there is none."""

    name: str
    shape: Shape
    dtype: torch.dtype
    device: torch.device
    description: str

    @property
    def stem(self) -> str:
        """The name without trailing digits."""
        return self.name.rstrip(_DIGITS)

    def randn(self, dtype: torch.dtype | None = None) -> torch.Tensor:
        return torch.randn(self.shape, dtype=dtype or self.dtype, device=self.device)


@dataclass(frozen=True)
class Rule:
    """A row of the table: which tensors it is for, and how they are drawn."""

    applies: Callable[[Wanted], bool]
    draw: Callable[[Wanted], torch.Tensor]


def _belongs_to_a_norm(tensor: Wanted, kind: str) -> bool:
    """`norm_weight`, `q_norm_weight`, `input_layernorm_weight`, `norm2_weight`; likewise for `bias`."""
    layer, _, last = tensor.name.rpartition("_")
    return last == kind and layer.rstrip(_DIGITS).endswith("norm")


def is_norm_weight(tensor: Wanted) -> bool:
    return _belongs_to_a_norm(tensor, "weight")


def is_norm_bias(tensor: Wanted) -> bool:
    return _belongs_to_a_norm(tensor, "bias")


def _is_causal_mask(tensor: Wanted) -> bool:
    if len(tensor.shape) < 2 or tensor.shape[-1] != tensor.shape[-2]:
        return False
    described = "attention mask" in tensor.description and "causal" in tensor.description
    return tensor.name in ("attention_mask", "causal_mask") or described


def _is_binary_mask(tensor: Wanted) -> bool:
    described = any(words in tensor.description for words in _BINARY_WORDS)
    return tensor.name in _MASKS or (tensor.name.endswith("_mask") and described)


def _is_positive(tensor: Wanted) -> bool:
    # numbered names are positive too, except for `_variance3`, which the official list leaves out
    return (
        tensor.name in _POSITIVE or tensor.name.endswith(("_rstd", "_std", "_variance", "_var"))
        or tensor.stem in _POSITIVE or tensor.stem.endswith(("_rstd", "_std", "_var"))
    )  # fmt: skip


def _is_softmaxed(tensor: Wanted) -> bool:
    described = "softmax" in tensor.description and "output" in tensor.description
    return tensor.name in _SOFTMAXED or described


def _is_weight_matrix(tensor: Wanted) -> bool:
    if len(tensor.shape) < 2:
        return False
    return "weight" in (tensor.name, tensor.stem) or tensor.stem.endswith(_WEIGHTS)


def _draw_causal_mask(tensor: Wanted) -> torch.Tensor:
    size, lowest = tensor.shape[-1], torch.finfo(tensor.dtype).min
    above = torch.ones(size, size, dtype=torch.bool, device=tensor.device).triu(diagonal=1)
    mask = torch.zeros(tensor.shape, dtype=tensor.dtype, device=tensor.device)
    return mask.masked_fill_(above, lowest)


def _draw_rotation(tensor: Wanted) -> torch.Tensor:
    angle = tensor.randn(torch.float32).clamp_(-math.pi, math.pi)
    return (torch.cos(angle) if tensor.name in _COSINES else torch.sin(angle)).to(tensor.dtype)


def _draw_decay(tensor: Wanted) -> torch.Tensor:
    low, high = _DECAYS[tensor.name]
    decay = torch.empty(tensor.shape, dtype=tensor.dtype, device=tensor.device).uniform_(low, high)
    return decay.cumsum(dim=-1) if tensor.name == "A_cumsum" else decay


RULES: tuple[Rule, ...] = (
    Rule(is_norm_weight, lambda t: torch.ones(t.shape, dtype=t.dtype, device=t.device)),
    Rule(is_norm_bias, lambda t: torch.zeros(t.shape, dtype=t.dtype, device=t.device)),
    Rule(_is_causal_mask, _draw_causal_mask),
    Rule(_is_binary_mask, lambda t: torch.randint(0, 2, t.shape, device=t.device).to(t.dtype)),
    Rule(lambda t: t.name in (*_COSINES, *_SINES), _draw_rotation),
    Rule(_is_positive, lambda t: t.randn().abs() + 0.1),
    Rule(lambda t: t.name in _DECAYS, _draw_decay),
    Rule(_is_softmaxed, lambda t: torch.softmax(t.randn(torch.float32), dim=-1).to(t.dtype)),
    Rule(_is_weight_matrix, lambda t: t.randn() / math.sqrt(t.shape[-1])),
)
"""The first row that applies draws; a tensor to which none applies is plain N(0, 1). fp8, fp4, integers
and booleans are drawn by type alone, whatever their names."""


def draw(
    name: str, shape: Shape, dtype: DType, device: torch.device, description: str | None
) -> torch.Tensor:
    """A random tensor by the rules above; of packed fp4, half as long as `shape` says, as officially."""
    if dtype not in (DType.FLOAT32, DType.FLOAT16, DType.BFLOAT16, DType.FLOAT64):
        return draw_by_type(shape, dtype, device)
    wanted = Wanted(name, shape, torch_dtype(dtype), device, (description or "").lower())
    rule = next((rule for rule in RULES if rule.applies(wanted)), None)
    return rule.draw(wanted) if rule else draw_by_type(shape, dtype, device)


def draw_by_type(shape: Shape, dtype: DType, device: torch.device) -> torch.Tensor:
    """A random tensor by its element type alone; `TaskError` for float64, which has no official draw."""
    if dtype in (DType.FLOAT32, DType.FLOAT16, DType.BFLOAT16):
        return torch.randn(shape, dtype=torch_dtype(dtype), device=device)
    if dtype in FP8:
        return torch.randn(shape, dtype=torch.float32, device=device).clamp_(-2.0, 2.0).to(torch_dtype(dtype))
    if dtype in FP4:
        return pack_fp4(torch.randn(shape, dtype=torch.float32, device=device))
    if dtype is DType.BOOL:
        return torch.randint(0, 2, shape, dtype=torch.bool, device=device)
    if dtype in _INTEGER_RANGES:
        low, high = _INTEGER_RANGES[dtype]
        return torch.randint(low, high, shape, dtype=torch_dtype(dtype), device=device)
    raise TaskError(
        f"random {dtype.value} inputs are not defined", field="dtype", mend="make them by a custom function"
    )
