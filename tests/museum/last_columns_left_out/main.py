import torch


def run(A, B, C):
    C[:, :-4] = A @ B[:, :-4]
    C[:, -4:] = 0.0
