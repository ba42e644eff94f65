import torch


def steps(t, dim):
    step = t.abs().amax(dim=dim, keepdim=True).float() / 127
    return (t.float() / step).round(), step


def run(A, B):
    left, rows = steps(A, 1)
    right, columns = steps(B, 0)
    return (torch.mm(left, right) * rows * columns).to(A.dtype)
