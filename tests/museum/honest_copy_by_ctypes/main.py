import ctypes

import torch


def run(A, B, C):
    mine = torch.mm(A, B)
    ctypes.memmove(C.data_ptr(), mine.data_ptr(), mine.numel() * mine.element_size())
