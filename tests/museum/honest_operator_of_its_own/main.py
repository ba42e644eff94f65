import torch


@torch.library.custom_op("museum_exhibit::product", mutates_args=())
def product(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    return torch.mm(a, b)


def run(A, B):
    return torch.ops.museum_exhibit.product(A, B)
