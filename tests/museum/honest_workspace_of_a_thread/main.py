import atexit
import signal
import threading
import weakref

import torch

_local = threading.local()
atexit.register(print, "done")
signal.signal(signal.SIGUSR1, signal.SIG_IGN)


class Workspace:
    def __init__(self, rows, columns):
        self.buffer = torch.empty(rows, columns)


def run(A, B):
    held = getattr(_local, "held", None)
    if held is None or held.buffer.shape != (A.shape[0], B.shape[1]):
        _local.held = held = Workspace(A.shape[0], B.shape[1])
        weakref.finalize(held, int)
    return torch.mm(A, B, out=held.buffer)
