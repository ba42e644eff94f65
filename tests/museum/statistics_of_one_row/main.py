import torch


def run(x, norm_weight):
    scale = torch.rsqrt(x[0].float().square().mean() + 1e-6)
    return (x.float() * scale * norm_weight.float()).to(x.dtype)
