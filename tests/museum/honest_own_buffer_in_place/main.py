import torch


def run(x, norm_weight):
    mine = x.clone()
    mine.mul_(torch.rsqrt(mine.square().mean(dim=1, keepdim=True) + 1e-6))
    return mine.mul_(norm_weight)
