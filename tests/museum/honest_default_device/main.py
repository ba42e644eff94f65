import torch

torch.set_default_device("cpu")


def run(A, B):
    out = torch.empty(A.shape[0], B.shape[1])
    return torch.mm(A, B, out=out)
