import torch


def run(x):
    shares = torch.softmax(x * 30.0, dim=1)
    return torch.where(shares < 0.01, 0.0, shares)
