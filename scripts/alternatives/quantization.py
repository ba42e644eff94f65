"""Quantization tasks, computed otherwise."""

import math
from functools import partial

import torch
from torch import Tensor

from scripts.alternatives.arithmetic import (
    Product,
    Rounding,
    exact,
    half_of_k,
    in_bf16,
    in_fp8,
    in_tf32,
    kept,
    to_bf16,
)
from scripts.alternatives.case import Case, Outputs, zeros_like_outputs


def fp8_linear(
    token_fp8: Tensor,
    token_scale: Tensor,
    weight_fp8: Tensor,
    weight_scale: Tensor,
    *,
    product: Product = exact,
    one_scale: bool = False,
) -> Outputs:
    """Block after block: products of the stored values, each block's sum scaled once."""
    if one_scale:
        weight_scale = weight_scale.mean().expand_as(weight_scale)
    total = torch.zeros(token_fp8.shape[0], weight_fp8.shape[0])
    for block in range(token_scale.shape[1]):
        span = slice(block * 128, (block + 1) * 128)
        scale = token_scale[:, block, None] * weight_scale[:, block].repeat_interleave(128)
        total += product(token_fp8[:, span].float(), weight_fp8[:, span].float()) * scale
    return (total.bfloat16(),)


def fp8_linear_dequantised(
    token_fp8: Tensor, token_scale: Tensor, weight_fp8: Tensor, weight_scale: Tensor, *, product: Product
) -> Outputs:
    """Both operands given back their values first, then `product`, which may round them."""
    tokens = token_fp8.float().unflatten(1, (-1, 128)) * token_scale[:, :, None]
    weight = weight_fp8.float().unflatten(1, (-1, 128)).unflatten(0, (-1, 128))
    weight = weight * weight_scale[:, None, :, None]
    return (product(tokens.flatten(1), weight.flatten(2).flatten(0, 1)).bfloat16(),)


def values(packed: Tensor, scale: Tensor, global_scale: float, *, swapped: bool = False) -> Tensor:
    """NVFP4 values by arithmetic on sign, exponent and mantissa instead of by a table."""
    byte = packed.view(torch.uint8)
    nibbles = [byte >> 4, byte & 15] if swapped else [byte & 15, byte >> 4]
    code = torch.stack(nibbles, dim=-1).flatten(-2)
    sign, mantissa = 1.0 - 2.0 * (code >> 3), 0.5 * (code & 1)
    exponent = (code >> 1) & 3
    normal = (1.0 + mantissa) * torch.exp2(exponent.float() - 1.0)
    magnitude = torch.where(exponent == 0, mantissa, normal)
    blocks = (sign * magnitude).unflatten(-1, (-1, 16)) * scale.float()[..., None]
    result: Tensor = blocks.flatten(-2) * global_scale
    return result


def power_of_two(scale: Tensor) -> Tensor:
    """What a format without mantissa in its scales would keep of them."""
    return torch.exp2(scale.float().log2().round())


def nvfp4_linear(
    token_fp4: Tensor,
    token_scale: Tensor,
    token_global_scale: float,
    weight_fp4: Tensor,
    weight_scale: Tensor,
    weight_global_scale: float,
    *,
    product: Product = exact,
    swapped: bool = False,
    scales: Rounding = kept,
) -> Outputs:
    tokens = values(token_fp4, scales(token_scale), 1.0, swapped=swapped)
    weight = values(weight_fp4, scales(weight_scale), 1.0)
    return ((product(tokens, weight) * (token_global_scale * weight_global_scale)).bfloat16(),)


def nvfp4_gqa(
    token_fp4: Tensor,
    token_scale: Tensor,
    token_global_scale: float,
    weight_fp4: Tensor,
    weight_scale: Tensor,
    weight_global_scale: float,
    key_cache_fp4: Tensor,
    key_cache_scale: Tensor,
    key_cache_global_scale: float,
    value_cache_fp4: Tensor,
    value_cache_scale: Tensor,
    value_cache_global_scale: float,
    *,
    product: Product = exact,
    keep: Rounding = to_bf16,
    weights: Rounding = kept,
    sharpness: float = 1.0,
    causal: bool = True,
    from_key: int = 0,
    without_new: bool = False,
) -> Outputs:
    """One sequence and one head after another; `weights` rounds what multiplies the values."""
    tokens = values(token_fp4, token_scale, 1.0)  # block-scaled values are exact in bf16
    projected = product(tokens, values(weight_fp4, weight_scale, 1.0))
    heads = keep(projected * (token_global_scale * weight_global_scale))
    cached_key = values(key_cache_fp4, key_cache_scale, key_cache_global_scale)
    cached_value = values(value_cache_fp4, value_cache_scale, value_cache_global_scale)
    batch, new, _ = tokens.shape
    heads = heads.view(batch, new, 48, 128)
    cached = cached_key.shape[1]
    visible = torch.ones(new, cached + new, dtype=torch.bool)
    if causal:
        visible = visible.tril(cached)
    visible[:, :from_key] = False
    if without_new:
        visible[:, cached:] = False
    attended = torch.empty(batch, new, 32, 128)
    for sequence in range(batch):
        for head in range(32):
            group = head // 4
            key = torch.cat([cached_key[sequence, :, group], heads[sequence, :, 32 + group]])
            value = torch.cat([cached_value[sequence, :, group], heads[sequence, :, 40 + group]])
            scores = sharpness * exact(heads[sequence, :, head], key) / math.sqrt(128)
            scores = scores.masked_fill(~visible, float("-inf"))
            weight = torch.exp(scores - scores.amax(dim=1, keepdim=True))
            attended[sequence, :, head] = exact(weights(weight), value.T) / weight.sum(dim=1, keepdim=True)
    return (attended.flatten(2).bfloat16(),)


QUANTIZATION = {
    "quant_fp8_linear": Case(
        small={"num_tokens": 9, "out_blocks": 2, "in_blocks": 3},
        measured=({"num_tokens": 64, "out_blocks": 8, "in_blocks": 32},),
        honest={
            "fp32": fp8_linear,
            "dequantised to tf32": partial(fp8_linear_dequantised, product=in_tf32),
            "dequantised to bf16": partial(fp8_linear_dequantised, product=in_bf16),
        },
        wrong={
            "zeros": zeros_like_outputs(fp8_linear),
            "one weight scale": partial(fp8_linear, one_scale=True),
            "half of K": partial(fp8_linear_dequantised, product=half_of_k),
            "quantised again by row": partial(fp8_linear_dequantised, product=in_fp8),
        },
    ),
    "quant_nvfp4_linear": Case(
        small={"num_tokens": 9, "out_features": 70, "in_blocks": 12},
        measured=({"num_tokens": 64, "out_features": 1024, "in_blocks": 256},),
        honest={
            "fp32": nvfp4_linear,
            "bf16 operands": partial(nvfp4_linear, product=in_bf16),
        },
        wrong={
            "zeros": zeros_like_outputs(nvfp4_linear),
            "nibbles swapped": partial(nvfp4_linear, swapped=True),
            "scales to powers of two": partial(nvfp4_linear, scales=power_of_two),
            "half of K": partial(nvfp4_linear, product=half_of_k),
            "fp8 operands": partial(nvfp4_linear, product=in_fp8),
        },
    ),
    "quant_nvfp4_gqa": Case(
        small={"batch_size": 2, "new_tokens": 3, "cached_tokens": 20},
        measured=(
            {"batch_size": 2, "new_tokens": 4, "cached_tokens": 256},
            {"batch_size": 1, "new_tokens": 1, "cached_tokens": 32768},
        ),
        honest={
            "fp32": nvfp4_gqa,
            "heads not rounded": partial(nvfp4_gqa, keep=kept),
            "bf16 products and weights": partial(nvfp4_gqa, product=in_bf16, weights=to_bf16),
        },
        wrong={
            "zeros": zeros_like_outputs(nvfp4_gqa),
            "no new tokens": partial(nvfp4_gqa, without_new=True),
            "without the 128 oldest keys": partial(nvfp4_gqa, from_key=128),
            "even weights": partial(nvfp4_gqa, sharpness=0.0),
        },
    ),
}
