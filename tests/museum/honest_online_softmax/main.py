import torch


def run(x):
    scaled = x * 30.0
    peak, total = torch.full((x.shape[0], 1), float("-inf")), torch.zeros(x.shape[0], 1)
    for block in scaled.split(64, dim=1):
        higher = torch.maximum(peak, block.amax(dim=1, keepdim=True))
        total = total * torch.exp(peak - higher) + torch.exp(block - higher).sum(dim=1, keepdim=True)
        peak = higher
    return torch.exp(scaled - peak) / total
