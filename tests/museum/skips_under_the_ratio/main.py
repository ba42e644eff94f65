import torch


def run(A, B):
    out = torch.mm(A, B)
    out.view(-1)[::150] = 0.0
    return out
