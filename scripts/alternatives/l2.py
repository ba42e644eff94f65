"""L2 tasks, computed otherwise."""

from functools import partial

import torch
from torch import Tensor

from scripts.alternatives.arithmetic import (
    Product,
    Rounding,
    exact,
    in_bf16,
    in_fp8,
    kept,
    split_in_bf16,
    to_bf16,
)
from scripts.alternatives.case import Case, Outputs, zeros_like_outputs

HEAD_DIM = 64


def norm(stream: Tensor, gain: Tensor, eps: float) -> Tensor:
    return stream / (stream.pow(2).mean(dim=-1, keepdim=True) + eps).sqrt() * gain.float()


def mlp(
    normed: Tensor,
    gate_weight: Tensor,
    up_weight: Tensor,
    down_weight: Tensor,
    product: Product,
    keep: Rounding,
) -> Tensor:
    gate, up = keep(product(normed, gate_weight)), keep(product(normed, up_weight))
    return product(keep(gate / (1.0 + torch.exp(-gate)) * up), down_weight)


def turned(heads: Tensor) -> Tensor:
    """Rotary embedding of [batch, heads, seq, HEAD_DIM], as multiplication of complex numbers."""
    half = HEAD_DIM // 2
    frequency = 500000.0 ** (-torch.arange(half, dtype=torch.float64) / half)
    angle = torch.arange(heads.shape[2], dtype=torch.float64)[:, None] * frequency
    turn = torch.polar(torch.ones_like(angle), angle).to(torch.complex64)
    pairs = torch.complex(heads[..., :half].contiguous(), heads[..., half:].contiguous()) * turn
    return torch.cat([pairs.real, pairs.imag], dim=-1)


def attention(
    query: Tensor, key: Tensor, value: Tensor, product: Product, keep: Rounding, causal: bool
) -> Tensor:
    """One query head after another."""
    group = query.shape[1] // key.shape[1]
    heads = []
    for head in range(query.shape[1]):
        scores = product(query[:, head], key[:, head // group]) * HEAD_DIM**-0.5
        if causal:
            future = torch.triu(torch.ones_like(scores[0], dtype=torch.bool), diagonal=1)
            scores = scores.masked_fill(future, float("-inf"))
        weight = torch.exp(scores - scores.amax(dim=-1, keepdim=True))
        total = weight.sum(dim=-1, keepdim=True)
        heads.append(product(keep(weight), value[:, head // group].mT) / total)
    return torch.stack(heads, dim=2).flatten(2)


def decoder(
    stream: Tensor,
    attention_gain: Tensor,
    query_weight: Tensor,
    key_weight: Tensor,
    value_weight: Tensor,
    mix_weight: Tensor,
    mlp_gain: Tensor,
    gate_weight: Tensor,
    up_weight: Tensor,
    down_weight: Tensor,
    *,
    product: Product = exact,
    keep: Rounding = to_bf16,
    without: str = "",
) -> Outputs:
    """`keep` rounds what a kernel would write between steps; `without` names what is left out."""
    batch, seq, _ = stream.shape
    gain = torch.ones_like(attention_gain) if without == "gains" else attention_gain
    normed = keep(norm(stream.float(), gain, 1e-5))

    def heads_of(weight: Tensor) -> Tensor:
        return keep(product(normed, weight)).view(batch, seq, -1, HEAD_DIM).transpose(1, 2)

    turn = (lambda heads: heads) if without == "rotation" else (lambda heads: keep(turned(heads)))
    total = torch.zeros_like(normed) if without == "residual" else stream.float()
    if without != "attention":
        query, key = turn(heads_of(query_weight)), turn(heads_of(key_weight))
        attended = attention(query, key, heads_of(value_weight), product, keep, without != "causality")
        total = keep(total + product(keep(attended), mix_weight))
    if without != "MLP":
        gain = torch.ones_like(mlp_gain) if without == "gains" else mlp_gain
        normed = keep(norm(total, gain, 1e-5))
        total = total + mlp(normed, gate_weight, up_weight, down_weight, product, keep)
    return (total.bfloat16(),)


def mlp_block(
    stream: Tensor,
    gain: Tensor,
    gate_weight: Tensor,
    up_weight: Tensor,
    down_weight: Tensor,
    *,
    product: Product = exact,
    keep: Rounding = to_bf16,
    without: str = "",
) -> Outputs:
    wide = stream.float()
    used = torch.ones_like(gain) if without == "gain" else gain
    normed = keep(wide * used.float() if without == "norm" else norm(wide, used, 1e-6))
    result = mlp(normed, gate_weight, up_weight, down_weight, product, keep)
    return ((result if without == "residual" else wide + result).bfloat16(),)


def moe_forward(
    tokens: Tensor,
    expert_of_slot: Tensor,
    slot_weight: Tensor,
    gate: Tensor,
    up: Tensor,
    down: Tensor,
    linear: bool,
) -> Tensor:
    """Every expert on every token, and the chosen ones picked afterwards: plain, wasteful, differentiable."""
    before, other = torch.einsum("th,eih->tei", tokens, gate), torch.einsum("th,eih->tei", tokens, up)
    active = before * torch.sigmoid(before).detach() if linear else torch.nn.functional.silu(before)
    results = torch.einsum("tei,ehi->teh", active * other, down)
    chosen = results.gather(1, expert_of_slot.long()[:, :, None].expand(-1, -1, tokens.shape[1]))
    return (chosen * slot_weight[:, :, None]).sum(dim=1)


def moe_autograd(
    upstream: Tensor,
    tokens: Tensor,
    expert_of_slot: Tensor,
    slot_weight: Tensor,
    gate: Tensor,
    up: Tensor,
    down: Tensor,
    *,
    linear: bool = False,
) -> Outputs:
    """Gradients of the forward pass by autograd; `linear` takes the sigmoid for a constant, which is wrong."""
    leaves = [t.float().clone().requires_grad_() for t in (tokens, slot_weight, gate, up, down)]
    token, weight, gate32, up32, down32 = leaves
    with torch.enable_grad():
        result = moe_forward(token, expert_of_slot, weight, gate32, up32, down32, linear)
    found = torch.autograd.grad(result, leaves, upstream.float())
    return tuple(
        g.detach().to(t.dtype) for g, t in zip(found, (tokens, slot_weight, gate, up, down), strict=True)
    )


def moe_by_slot(
    upstream: Tensor,
    tokens: Tensor,
    expert_of_slot: Tensor,
    slot_weight: Tensor,
    gate: Tensor,
    up: Tensor,
    down: Tensor,
    *,
    product: Product = in_bf16,
    between: Rounding = kept,
    slots: int | None = None,
    weighted: bool = True,
) -> Outputs:
    """By hand, with operands of every product rounded; of each token only the first `slots` count."""
    grads = [torch.zeros_like(t, dtype=torch.float32) for t in (tokens, slot_weight, gate, up, down)]
    for expert in range(gate.shape[0]):
        row, slot = torch.nonzero(expert_of_slot[:, :slots] == expert, as_tuple=True)
        if not row.numel():
            continue
        token, above = tokens[row].float(), upstream[row].float()
        share = slot_weight[row, slot, None] if weighted else torch.ones(len(row), 1)
        before, other = between(product(token, gate[expert])), between(product(token, up[expert]))
        sigmoid = 1.0 / (1.0 + torch.exp(-before))
        to_inner = between(product(above, down[expert].mT))
        to_gate = to_inner * share * other * (sigmoid + before * sigmoid * (1.0 - sigmoid))
        to_up = to_inner * share * before * sigmoid
        grads[0].index_add_(0, row, product(to_gate, gate[expert].mT) + product(to_up, up[expert].mT))
        grads[1][row, slot] = (to_inner * before * sigmoid * other).sum(dim=1)
        grads[2][expert] = product(to_gate.T, token.T)
        grads[3][expert] = product(to_up.T, token.T)
        grads[4][expert] = product(above.T, (share * before * sigmoid * other).T)
    return tuple(g.to(t.dtype) for g, t in zip(grads, (tokens, slot_weight, gate, up, down), strict=True))


L2 = {
    "l2_decoder": Case(
        small={"batch_size": 2, "seq_len": 12},
        measured=({"batch_size": 1, "seq_len": 128}, {"batch_size": 1, "seq_len": 2048}),
        honest={
            "fp32": partial(decoder, keep=kept),
            "bf16 between steps": decoder,
            "split-K in bf16": partial(decoder, product=split_in_bf16),
        },
        wrong={
            "zeros": zeros_like_outputs(decoder),
            "stream as it is": lambda stream, *_: (stream.clone(),),
            **{
                f"no {part}": partial(decoder, without=part)
                for part in ("attention", "MLP", "residual", "rotation", "causality", "gains")
            },
            "fp8 operands": partial(decoder, product=in_fp8),
        },
    ),
    "l2_mlp_block": Case(
        small={"num_tokens": 12},
        measured=({"num_tokens": 64},),
        honest={
            "fp32": partial(mlp_block, keep=kept),
            "bf16 between steps": mlp_block,
            "split-K in bf16": partial(mlp_block, product=split_in_bf16),
        },
        wrong={
            "zeros": zeros_like_outputs(mlp_block),
            "stream as it is": lambda stream, *_: (stream.clone(),),
            "no residual": partial(mlp_block, without="residual"),
            "no norm": partial(mlp_block, without="norm"),
            "no gain": partial(mlp_block, without="gain"),
            "fp8 operands": partial(mlp_block, product=in_fp8),
        },
    ),
    "l2_moe_backward": Case(
        small={"num_tokens": 16, "num_experts": 16, "inner_size": 64},
        measured=(
            {"num_tokens": 64, "num_experts": 16, "inner_size": 256},
            {"num_tokens": 512, "num_experts": 32, "inner_size": 128},
        ),
        honest={
            "fp32": moe_autograd,
            "bf16 operands": moe_by_slot,
            "bf16 between steps": partial(moe_by_slot, between=to_bf16),
        },
        wrong={
            "zeros": zeros_like_outputs(moe_by_slot),
            "seven slots": partial(moe_by_slot, slots=7),
            "not weighted": partial(moe_by_slot, weighted=False),
            "sigmoid constant": partial(moe_autograd, linear=True),
            "fp8 operands": partial(moe_by_slot, product=in_fp8),
        },
    ),
}
