import torch

torch.set_num_threads(1)


@torch.inference_mode()
def run(A, B):
    return torch.mm(A, B)
