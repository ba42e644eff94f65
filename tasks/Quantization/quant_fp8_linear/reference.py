"""A linear layer of fp8 e4m3 operands, one fp32 scale a block: 1x128 for tokens, 128x128 for weights."""

import torch

BLOCK = 128
LARGEST = 448.0  # of float8_e4m3fn


def quantise(matrix, rows_a_block):
    """fp8 values of [m, k], and the fp32 scale of each block of `rows_a_block` x 128 that gives them back."""
    m, k = matrix.shape
    blocks = matrix.view(m // rows_a_block, rows_a_block, k // BLOCK, BLOCK)
    scale = blocks.abs().amax(dim=(1, 3)) / LARGEST
    return (blocks / scale[:, None, :, None]).view(m, k).to(torch.float8_e4m3fn), scale


def get_inputs(axes_and_scalars, device):
    tokens, k, n = (axes_and_scalars[a] for a in ("num_tokens", "in_features", "out_features"))
    token_fp8, token_scale = quantise(torch.randn(tokens, k, device=device), 1)
    weight_fp8, weight_scale = quantise(torch.randn(n, k, device=device) * k**-0.5, BLOCK)
    return {
        "token_fp8": token_fp8,
        "token_scale": token_scale,
        "weight_fp8": weight_fp8,
        "weight_scale": weight_scale,
    }


@torch.no_grad()
def run(token_fp8, token_scale, weight_fp8, weight_scale):
    tokens = token_fp8.float() * token_scale.repeat_interleave(BLOCK, dim=1)
    spread = weight_scale.repeat_interleave(BLOCK, dim=0).repeat_interleave(BLOCK, dim=1)
    return (tokens @ (weight_fp8.float() * spread).T).to(torch.bfloat16)
