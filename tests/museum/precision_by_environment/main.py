import os

os.environ["ONEDNN_DEFAULT_FPMATH_MODE"] = "ANY"
os.environ["NVIDIA_TF32_OVERRIDE"] = "1"

import torch  # noqa: E402


def run(A, B):
    return torch.mm(A, B)
