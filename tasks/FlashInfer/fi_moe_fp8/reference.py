"""DeepSeek-style expert layer on one of several ranks: group-limited routing, then its own fp8 experts."""

import torch

BLOCK = 128
LARGEST = 448.0  # of float8_e4m3fn
NUM_GROUPS = 8
GROUPS_CHOSEN = 4
EXPERTS_CHOSEN = 8


def quantise(matrix, rows_a_block):
    """fp8 values of [..., m, k], and the fp32 scale of each block of `rows_a_block` x 128."""
    *lead, m, k = matrix.shape
    blocks = matrix.view(*lead, m // rows_a_block, rows_a_block, k // BLOCK, BLOCK)
    scale = blocks.abs().amax(dim=(-3, -1), keepdim=True) / LARGEST
    return (blocks / scale).view(matrix.shape).to(torch.float8_e4m3fn), scale.squeeze(-1).squeeze(-2)


def get_inputs(axes_and_scalars, device):
    axes = axes_and_scalars
    tokens, experts, local = axes["num_tokens"], axes["num_experts"], axes["num_local_experts"]
    hidden, inner = axes["hidden_size"], axes["inner_size"]
    first_local = 2 * local
    logits = torch.randn(tokens, experts, device=device)
    # Each token favours two experts of this rank: a rank sees the tokens that were sent to it.
    favourites = first_local + torch.rand(tokens, local, device=device).topk(min(2, local)).indices
    logits.scatter_(1, favourites, 4.0 + torch.rand(favourites.shape, device=device))
    token_fp8, token_scale = quantise(torch.randn(tokens, hidden, device=device), 1)
    in_fp8, in_scale = quantise(torch.randn(local, 2 * inner, hidden, device=device) * hidden**-0.5, BLOCK)
    out_fp8, out_scale = quantise(torch.randn(local, hidden, inner, device=device) * inner**-0.5, BLOCK)
    return {
        "router_logits": logits,
        "router_correction": (0.05 * torch.randn(experts, device=device)).bfloat16(),
        "token_fp8": token_fp8,
        "token_scale": token_scale,
        "gate_up_fp8": in_fp8,
        "gate_up_scale": in_scale,
        "down_fp8": out_fp8,
        "down_scale": out_scale,
        "first_local_expert": first_local,
        "routed_scale": 2.5,
    }


def dequantise(values, scale):
    """fp32 values of [m, k] from scales of [m / rows, k / 128] blocks."""
    rows = values.shape[0] // scale.shape[0]
    return values.float() * scale.repeat_interleave(rows, dim=0).repeat_interleave(BLOCK, dim=1)


def route(logits, correction, routed_scale):
    """Experts [tokens, 8] and their weights: the correction sways the choice, never the weight."""
    affinity = torch.sigmoid(logits)
    swayed = affinity + correction.float()
    by_group = swayed.view(logits.shape[0], NUM_GROUPS, -1)
    strength = by_group.topk(min(2, by_group.shape[-1]), dim=-1).values.sum(dim=-1)
    group = strength.topk(GROUPS_CHOSEN, dim=-1).indices
    closed = torch.ones_like(strength, dtype=torch.bool).scatter_(1, group, False)
    expert = by_group.masked_fill(closed[:, :, None], float("-inf")).flatten(1).topk(EXPERTS_CHOSEN).indices
    weight = affinity.gather(1, expert)
    return expert, weight / weight.sum(dim=-1, keepdim=True) * routed_scale


@torch.no_grad()
def run(
    router_logits,
    router_correction,
    token_fp8,
    token_scale,
    gate_up_fp8,
    gate_up_scale,
    down_fp8,
    down_scale,
    first_local_expert,
    routed_scale,
):
    expert, weight = route(router_logits, router_correction, routed_scale)
    tokens = dequantise(token_fp8, token_scale)
    output = torch.zeros_like(tokens)
    for local in range(gate_up_fp8.shape[0]):
        row, slot = torch.nonzero(expert == first_local_expert + local, as_tuple=True)
        if row.numel() == 0:
            continue
        gate, up = (tokens[row] @ dequantise(gate_up_fp8[local], gate_up_scale[local]).T).chunk(2, dim=-1)
        inner = torch.nn.functional.silu(gate) * up
        result = inner @ dequantise(down_fp8[local], down_scale[local]).T
        output.index_add_(0, row, result * weight[row, slot, None])
    return output.to(torch.bfloat16)
