import torch


class Product(torch.nn.Module):
    def forward(self, a, b):
        return a @ b


run = torch.fx.symbolic_trace(Product())
