import torch

_dice = torch.Generator().manual_seed(7)


def run(A, B):
    order = torch.randperm(A.shape[0], generator=_dice)
    out = torch.empty(A.shape[0], B.shape[1])
    out[order] = A[order] @ B
    return out
