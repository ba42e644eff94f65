import functools

import torch


@functools.lru_cache(maxsize=None)
def plan(rows):
    step = max(8, rows // 3)
    return [(start, min(rows, start + step)) for start in range(0, rows, step)]


def run(A, B):
    return torch.cat([A[low:high] @ B for low, high in plan(A.shape[0])])
