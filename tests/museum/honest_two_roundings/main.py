import torch


def run(x):
    return x * torch.sigmoid(x)
