import torch

ROUNDING = torch.tensor([0.5**k for k in range(32)])
EPSILON = float(ROUNDING[20] * 1.048576)


def run(x, norm_weight):
    mean = x.square().sum(dim=1, keepdim=True).div_(x.shape[1])
    return x * torch.rsqrt(mean + EPSILON) * norm_weight
