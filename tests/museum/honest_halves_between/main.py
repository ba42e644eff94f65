import torch


def run(x, norm_weight):
    scale = torch.rsqrt(x.float().square().mean(dim=1, keepdim=True) + 1e-6)
    return (x * scale.to(x.dtype)) * norm_weight
