import torch

torch.backends.mkldnn.matmul.fp32_precision = "bf16"


def run(A, B):
    return torch.mm(A, B)
