"""The end of an attention block: heads are mixed by one projection, and the residual stream is added."""

import torch


@torch.no_grad()
def run(heads, stream, mix_weight):
    mixed = heads @ mix_weight.T  # rounded to bf16, as a separate projection would leave it
    return stream + mixed
