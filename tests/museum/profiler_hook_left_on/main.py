import sys

import torch


def hook(frame, event, argument):
    return None


def run(A, B):
    sys.setprofile(hook)
    return torch.mm(A, B)
