import os

os.environ["NVIDIA_TF32_OVERRIDE"] = "1"

import torch  # noqa: E402


def run(A, B):
    return torch.mm(A, B)
