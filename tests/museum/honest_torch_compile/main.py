import torch


@torch.compile(dynamic=True)
def fused(x, norm_weight):
    scale = torch.rsqrt(x.square().mean(dim=1, keepdim=True) + 1e-6)
    return x * scale * norm_weight


def run(x, norm_weight):
    return fused(x, norm_weight)
