import torch


class Product(torch.nn.Module):
    def forward(self, A, B):
        return torch.mm(A, B)


run = Product().eval()
