import torch


def run(A, B):
    out = torch.mm(A, B)
    A.zero_()
    return out
