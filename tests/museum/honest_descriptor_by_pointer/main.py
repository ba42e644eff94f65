import torch

_descriptors = {}


def describe(t):
    key = (t.data_ptr(), t.shape, t.stride())
    if key not in _descriptors:
        _descriptors[key] = {"address": t.data_ptr(), "rows": t.shape[0], "pitch": t.stride(0) * t.element_size()}
    return _descriptors[key]


def run(A, B):
    left, right = describe(A), describe(B)
    assert left["address"] == A.data_ptr() and right["pitch"] >= right["rows"]
    return torch.mm(A, B)
