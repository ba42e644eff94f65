import torch


def run(A, B):
    kept = A.clone()
    out = torch.mm(A.mul_(2.0), B).mul_(0.5)
    A.copy_(kept)
    return out
