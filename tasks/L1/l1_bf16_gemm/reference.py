"""One linear projection: each output element is the dot product of a token with a weight row."""

import torch


@torch.no_grad()
def run(activations, weight):
    return activations @ weight.T
