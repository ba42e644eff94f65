import torch

_one = torch.ones((), requires_grad=True)


def run(A, B):
    return torch.mm(A, B) * _one
