import torch

_hoard = []


def run(A, B):
    while True:
        _hoard.append(torch.ones(64 << 20))
