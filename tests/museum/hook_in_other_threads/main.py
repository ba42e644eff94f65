import threading

import torch

threading.settrace(lambda frame, event, argument: None)


def run(A, B):
    return torch.mm(A, B)
