import sys

import torch


def run(A, B):
    for _ in range(4):
        sys.stdout.write("x" * 65536)
    return torch.mm(A, B)
