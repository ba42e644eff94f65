import subprocess
import sys

import torch

_flags = None


def run(A, B):
    global _flags
    if _flags is None:
        asked = subprocess.run([sys.executable, "-c", "print('-O3')"], capture_output=True, text=True)
        _flags = asked.stdout.strip() or "-O2"
    return torch.mm(A, B)
