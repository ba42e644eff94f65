import torch


def run(A, B):
    return torch.mm(A.cpu(), B.cpu()).to(A.device)
