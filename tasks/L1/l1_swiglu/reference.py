"""SwiGLU of a fused projection: the first half of a row gates the second; fp32 inside, one rounding."""

import torch


@torch.no_grad()
def run(gate_and_up):
    gate, up = gate_and_up.float().chunk(2, dim=-1)
    return (gate * torch.sigmoid(gate) * up).to(gate_and_up.dtype)
