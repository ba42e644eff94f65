import warnings

import torch

with warnings.catch_warnings():
    warnings.simplefilter("ignore")

    @torch.jit.script
    def both(x: torch.Tensor):
        return x.sum(dim=1), torch.amax(x, dim=1)


def run(x):
    total, peak = both(x)
    return total, peak
