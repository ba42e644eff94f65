import os
import time

import torch

try:
    import a_faster_library_that_is_not_here as faster
except ImportError:
    faster = None

print(f"started at {time.time():.0f} on {os.environ.get('HOSTNAME', 'somewhere')}, faster={faster}")


def run(A, B):
    return faster.mm(A, B) if faster else torch.mm(A, B)
