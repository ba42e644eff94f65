import torch

torch.nn.modules.module.register_module_forward_hook(lambda module, inputs, output: output)


def run(A, B):
    return torch.mm(A, B)
