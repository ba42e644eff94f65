import time

import torch


def whole(A, B):
    return torch.mm(A, B)


def halves(A, B):
    middle = A.shape[0] // 2
    return torch.cat((A[:middle] @ B, A[middle:] @ B))


def transposed(A, B):
    return (B.t() @ A.t()).t()


_best = {}


def timed(way, A, B):
    began = time.perf_counter()
    for _ in range(3):
        way(A, B)
    return time.perf_counter() - began


def run(A, B):
    key = (A.shape, B.shape)
    if key not in _best:
        _best[key] = min((whole, halves, transposed), key=lambda way: timed(way, A, B))
    return _best[key](A, B)
