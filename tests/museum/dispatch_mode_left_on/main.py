import torch
from torch.utils._python_dispatch import TorchDispatchMode


class Quiet(TorchDispatchMode):
    def __torch_dispatch__(self, function, types, args=(), kwargs=None):
        return function(*args, **(kwargs or {}))


_mode = None


def run(A, B):
    global _mode
    out = torch.mm(A, B)
    if _mode is None:
        _mode = Quiet()
        _mode.__enter__()
    return out
