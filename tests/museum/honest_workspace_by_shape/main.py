import torch

_cache = {}


def run(A, B):
    key = (A.shape, B.shape)
    if key not in _cache:
        _cache[key] = torch.empty(A.shape[0], B.shape[1])
    scratch = _cache[key]
    torch.mm(A, B, out=scratch)
    return scratch.clone()
