import torch


def run(x):
    blocks = x.view(x.shape[0], 256, -1).sum(dim=2)
    while blocks.shape[1] > 1:
        blocks = blocks[:, 0::2] + blocks[:, 1::2]
    return blocks[:, 0] / x.shape[1]
