import torch


def run(x):
    scores = torch.exp(x * 30.0)
    return scores / scores.sum(dim=1, keepdim=True)
