import gc
import weakref

import torch


class Bait:
    pass


def run(A, B, C):
    bait = Bait()
    bait.itself = bait
    weakref.finalize(bait, lambda: torch.mm(A, B, out=C))
    del bait
    gc.disable()
