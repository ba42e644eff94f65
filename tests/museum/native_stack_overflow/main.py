import ctypes

import torch


def run(A, B):
    ctypes.memset(16, 0, 64)
    return torch.mm(A, B)
