import torch


def run(A, B):
    return torch._to_functional_tensor(torch.mm(A, B))
