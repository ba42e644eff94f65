"""The MLP half of a pre-norm decoder layer: normalise, SwiGLU between two projections, add the stream."""

import torch

EPS = 1e-6


@torch.no_grad()
def run(stream, gain, gate_weight, up_weight, down_weight):
    wide = stream.float()
    inverse_rms = torch.rsqrt(wide.square().mean(dim=-1, keepdim=True) + EPS)
    normed = (wide * inverse_rms * gain.float()).to(stream.dtype)
    gated = torch.nn.functional.silu(normed @ gate_weight.T) * (normed @ up_weight.T)
    return stream + gated @ down_weight.T
