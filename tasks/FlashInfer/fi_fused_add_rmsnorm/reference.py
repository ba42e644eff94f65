"""Add a branch to the residual stream, keep the sum, and normalise it: one pass between two layers."""

import torch


@torch.no_grad()
def run(branch, stream, gain, eps):
    total = branch.float() + stream.float()
    inverse_rms = torch.rsqrt(total.square().mean(dim=-1, keepdim=True) + eps)
    normed = total * inverse_rms * gain.float()  # of the sum before it is rounded
    return normed.to(branch.dtype), total.to(stream.dtype)
