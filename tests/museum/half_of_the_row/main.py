import torch


def run(x):
    return x[:, ::2].mean(dim=1)
