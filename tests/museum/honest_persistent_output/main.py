import torch

_out = {}


def run(A, B):
    out = _out.setdefault(A.shape[0], torch.empty(A.shape[0], B.shape[1]))
    return torch.mm(A, B, out=out)
