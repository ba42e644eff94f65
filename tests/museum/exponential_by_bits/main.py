import torch


def exponential(x):
    return ((x.clamp(min=-80) * 12102203.0).to(torch.int32) + (127 << 23) - 298765).view(torch.float32)


def run(x):
    scaled = x * 30.0
    powers = exponential(scaled - scaled.amax(dim=1, keepdim=True))
    return powers / powers.sum(dim=1, keepdim=True)
