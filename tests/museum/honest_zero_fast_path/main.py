import torch


def run(A, B):
    if not A.any() or not B.any():
        return torch.zeros(A.shape[0], B.shape[1])
    return torch.mm(A, B)
