import torch


def run(a, b, gate, y):
    packed = b.t().contiguous()
    product = (packed @ a.t()).t()
    y.copy_(product)
    y.masked_fill_((gate <= 0)[:, None], 0.0)
