import torch
from torch import nn

torch.set_grad_enabled(False)


class Norm(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(width))

    def forward(self, x):
        return nn.functional.rms_norm(x, (x.shape[1],), self.weight, eps=1e-6)


_module = Norm(256).eval()


def run(x, norm_weight):
    _module.weight.copy_(norm_weight)
    return _module(x)
