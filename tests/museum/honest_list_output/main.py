import torch


def run(x):
    return [x @ torch.ones(x.shape[1]), torch.amax(x, 1)]
