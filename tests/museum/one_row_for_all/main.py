import torch


def run(A, B):
    return A[:1] @ B
