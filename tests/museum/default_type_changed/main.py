import torch

torch.set_default_dtype(torch.float64)


def run(A, B):
    return torch.mm(A, B)
