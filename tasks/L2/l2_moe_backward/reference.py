"""Backward pass of a layer of SwiGLU experts, each token sent to a few of them and their outputs weighted.

Forward: y[t] = sum over slots j of slot_weight[t, j] * down[e] @ (silu(gate[e] @ x[t]) * (up[e] @ x[t]))
with e = expert_of_slot[t, j]. What the backward pass needs of it is computed again here.
"""

import torch


def get_inputs(axes_and_scalars, device):
    tokens, experts = axes_and_scalars["num_tokens"], axes_and_scalars["num_experts"]
    hidden, inner = axes_and_scalars["hidden_size"], axes_and_scalars["inner_size"]
    slots = axes_and_scalars["slots_per_token"]

    def normal(*shape, std=1.0):
        return torch.randn(shape, device=device, dtype=torch.bfloat16) * std

    # Popular experts draw several times as many tokens as the others, as routers do in practice.
    popularity = torch.randn(experts, device=device) * 0.5
    scores = popularity + torch.randn(tokens, experts, device=device)
    best = scores.softmax(dim=-1).topk(min(slots, experts), dim=-1)
    repeats = -(-slots // best.indices.shape[-1])  # more slots than experts: some serve a token twice
    chosen = best.indices.repeat(1, repeats)[:, :slots]
    share = best.values.repeat(1, repeats)[:, :slots]
    return {
        "upstream": normal(tokens, hidden),
        "tokens": normal(tokens, hidden, std=0.5),
        "expert_of_slot": chosen.to(torch.int32).contiguous(),
        "slot_weight": (2.5 * share / share.sum(dim=-1, keepdim=True)).contiguous(),
        "gate": normal(experts, inner, hidden, std=hidden**-0.5),
        "up": normal(experts, inner, hidden, std=hidden**-0.5),
        "down": normal(experts, hidden, inner, std=inner**-0.5),
    }


def expert_backward(token, upstream, weight, gate, up, down):
    """Of one expert and its tokens: gradients of tokens (fp32), slot weights, and the three matrices.

    Operands of every matrix product are bf16, what lies between is fp32.
    """
    before_gate, before_up = (token @ gate.T).float(), (token @ up.T).float()
    sigmoid = torch.sigmoid(before_gate)
    silu = before_gate * sigmoid
    inner = silu * before_up
    to_inner = (upstream @ down).float()
    weighted = to_inner * weight[:, None]
    slope = sigmoid * (1.0 + before_gate * (1.0 - sigmoid))
    to_gate = (weighted * before_up * slope).to(token.dtype)
    to_up = (weighted * silu).to(token.dtype)
    to_token = (to_gate @ gate).float() + (to_up @ up).float()
    to_down = upstream.T @ (inner * weight[:, None]).to(token.dtype)
    return to_token, (to_inner * inner).sum(dim=-1), to_gate.T @ token, to_up.T @ token, to_down


@torch.no_grad()
def run(upstream, tokens, expert_of_slot, slot_weight, gate, up, down):
    grad_tokens = torch.zeros(tokens.shape, device=tokens.device, dtype=torch.float32)
    grad_slot_weight = torch.zeros_like(slot_weight)
    grad_gate, grad_up, grad_down = (torch.zeros_like(matrix) for matrix in (gate, up, down))
    for expert in range(gate.shape[0]):
        row, slot = torch.nonzero(expert_of_slot == expert, as_tuple=True)
        if row.numel() == 0:
            continue
        to_token, to_weight, grad_gate[expert], grad_up[expert], grad_down[expert] = expert_backward(
            tokens[row], upstream[row], slot_weight[row, slot], gate[expert], up[expert], down[expert]
        )
        grad_tokens.index_add_(0, row, to_token)
        grad_slot_weight[row, slot] = to_weight
    return grad_tokens.to(tokens.dtype), grad_slot_weight, grad_gate, grad_up, grad_down
