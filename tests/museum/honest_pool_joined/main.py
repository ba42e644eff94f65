from concurrent.futures import ThreadPoolExecutor

import torch

_pool = ThreadPoolExecutor(max_workers=2)


def run(A, B):
    out = torch.empty(A.shape[0], B.shape[1])
    middle = A.shape[0] // 2
    parts = [slice(0, middle), slice(middle, None)]
    list(_pool.map(lambda part: torch.mm(A[part], B, out=out[part]), parts))
    return out
