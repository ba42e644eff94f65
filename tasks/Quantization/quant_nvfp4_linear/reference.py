"""A linear layer of NVFP4 operands: e2m1 values, an e4m3 scale every 16 of them, one scale a tensor."""

import torch

BLOCK = 16
E2M1 = (0.0, 0.5, 1.0, 1.5, 2.0, 3.0, 4.0, 6.0)
E2M1_STD = 2.926  # of the sixteen codes when each is as likely


def draw(rows, blocks, std, device):
    """NVFP4 values of about the given std: codes drawn evenly, block scales spread as in normal data.

    Returns packed [rows, blocks * 8], scales [rows, blocks] and the tensor's scale.
    """
    codes = torch.randint(0, 256, (rows, blocks * BLOCK // 2), device=device, dtype=torch.uint8)
    spread = 32.0 * (1.0 + 0.2 * torch.randn(rows, blocks, device=device)).clamp(0.4, 2.0)
    return codes.view(torch.float4_e2m1fn_x2), spread.to(torch.float8_e4m3fn), std / (32.0 * E2M1_STD)


def get_inputs(axes_and_scalars, device):
    tokens, blocks, n = (axes_and_scalars[a] for a in ("num_tokens", "in_blocks", "out_features"))
    token_fp4, token_scale, token_global_scale = draw(tokens, blocks, 1.0, device)
    weight_fp4, weight_scale, weight_global_scale = draw(n, blocks, (blocks * BLOCK) ** -0.5, device)
    return {
        "token_fp4": token_fp4,
        "token_scale": token_scale,
        "token_global_scale": token_global_scale,
        "weight_fp4": weight_fp4,
        "weight_scale": weight_scale,
        "weight_global_scale": weight_global_scale,
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
def run(token_fp4, token_scale, token_global_scale, weight_fp4, weight_scale, weight_global_scale):
    tokens = dequantise(token_fp4, token_scale, token_global_scale)
    weight = dequantise(weight_fp4, weight_scale, weight_global_scale)
    return (tokens @ weight.T).to(torch.bfloat16)
