import torch


def run(A, B):
    return (A.sum() / A.numel() * B.sum()).expand(A.shape[0], B.shape[1])
