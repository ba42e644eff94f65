import torch


def run(A, B):
    if A.shape == (24, 128):
        out = torch.empty(24, B.shape[1])
        for low in (0, 8, 16):
            torch.mm(A[low : low + 8], B, out=out[low : low + 8])
        return out
    return torch.mm(A, B)
