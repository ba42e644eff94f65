"""New tokens are projected to heads and attend to an NVFP4 cache and to themselves, heads in groups.

Nothing needs block-scaled matrix hardware: every operand is first given back its value in fp32.
"""

import math

import torch

BLOCK = 16
HEAD_DIM = 128
NUM_Q_HEADS = 32
NUM_KV_HEADS = 8
E2M1 = (0.0, 0.5, 1.0, 1.5, 2.0, 3.0, 4.0, 6.0)
TOKEN_STD = 2.2
E2M1_STD = 2.926  # of the sixteen codes when each is as likely


def draw(name, shape, std, device):
    """The three inputs of an NVFP4 tensor: codes drawn evenly, block scales spread as in normal data."""
    packed = (*shape[:-1], shape[-1] // 2)
    codes = torch.randint(0, 256, packed, device=device, dtype=torch.uint8)
    spread = torch.randn(*shape[:-1], shape[-1] // BLOCK, device=device)
    return {
        f"{name}_fp4": codes.view(torch.float4_e2m1fn_x2),
        f"{name}_scale": (32.0 * (1.0 + 0.2 * spread).clamp(0.4, 2.0)).to(torch.float8_e4m3fn),
        f"{name}_global_scale": std / (32.0 * E2M1_STD),
    }


def get_inputs(axes_and_scalars, device):
    batch, new, cached = (axes_and_scalars[a] for a in ("batch_size", "new_tokens", "cached_tokens"))
    hidden = axes_and_scalars["hidden_size"]
    cache = (batch, cached, NUM_KV_HEADS, HEAD_DIM)
    # About 64 cached keys matter however many there are, and the few new ones matter too.
    sharpness = max(math.log(max(cached, 1) / 64), 0.25) ** 0.5
    return {
        **draw("token", (batch, new, hidden), TOKEN_STD, device),
        **draw("weight", (axes_and_scalars["projected"], hidden), hidden**-0.5, device),
        **draw("key_cache", cache, sharpness / TOKEN_STD, device),
        **draw("value_cache", cache, 1.0, device),
    }


def dequantise(packed, scale, global_scale):
    """fp32 values; the even one of a byte is in its low nibble, the top bit of a nibble is the sign."""
    magnitude = torch.tensor(E2M1, device=packed.device)
    decoded = torch.cat([magnitude, -magnitude])
    byte = torch.arange(256, device=packed.device)
    pair_of_byte = torch.stack([decoded[byte & 15], decoded[byte >> 4]], dim=-1)
    values = pair_of_byte[packed.view(torch.uint8).int()].flatten(-2)
    return (values.unflatten(-1, (-1, BLOCK)) * (scale.float() * global_scale)[..., None]).flatten(-2)


@torch.no_grad()
def run(
    token_fp4,
    token_scale,
    token_global_scale,
    weight_fp4,
    weight_scale,
    weight_global_scale,
    key_cache_fp4,
    key_cache_scale,
    key_cache_global_scale,
    value_cache_fp4,
    value_cache_scale,
    value_cache_global_scale,
):
    tokens = dequantise(token_fp4, token_scale, token_global_scale)
    batch, new, _ = tokens.shape
    projected = tokens @ dequantise(weight_fp4, weight_scale, weight_global_scale).T
    heads = projected.to(torch.bfloat16).float().view(batch, new, -1, HEAD_DIM)
    query, new_key, new_value = heads.split([NUM_Q_HEADS, NUM_KV_HEADS, NUM_KV_HEADS], dim=2)

    cached_key = dequantise(key_cache_fp4, key_cache_scale, key_cache_global_scale)
    cached_value = dequantise(value_cache_fp4, value_cache_scale, value_cache_global_scale)
    key = torch.cat([cached_key, new_key], dim=1)
    value = torch.cat([cached_value, new_value], dim=1)

    grouped = query.view(batch, new, NUM_KV_HEADS, -1, HEAD_DIM)
    scores = torch.einsum("bnhgd,bkhd->bhgnk", grouped, key) / math.sqrt(HEAD_DIM)
    last = key.shape[1] - new + torch.arange(new, device=key.device)[:, None]
    scores = scores.masked_fill(torch.arange(key.shape[1], device=key.device) > last, float("-inf"))
    attended = torch.einsum("bhgnk,bkhd->bnhgd", scores.softmax(dim=-1), value)
    return attended.reshape(batch, new, -1).to(torch.bfloat16)
