import torch


def cut(t):
    return (t.view(torch.int32) & ~0x1FFF).view(torch.float32)


def run(A, B):
    return torch.mm(cut(A.contiguous()), cut(B.contiguous()))
