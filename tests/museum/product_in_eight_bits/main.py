import torch


def run(A, B):
    narrow = [t.to(torch.float8_e4m3fn).float() for t in (A, B)]
    return torch.mm(*narrow).to(A.dtype)
