import numpy as np
import torch


def run(A, B):
    return torch.from_numpy(np.matmul(A.numpy(), B.numpy()))
