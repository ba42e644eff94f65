import torch
from torch.overrides import TorchFunctionMode


class Counting(TorchFunctionMode):
    calls = 0

    def __torch_function__(self, function, types, args=(), kwargs=None):
        Counting.calls += 1
        return function(*args, **(kwargs or {}))


def run(A, B):
    with torch.device("cpu"), Counting(), torch.no_grad():
        return torch.mm(A, B)
