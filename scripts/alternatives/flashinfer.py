"""FlashInfer tasks, computed otherwise."""

import math
from functools import partial
from typing import Any

import torch
from torch import Tensor

from scripts.alternatives.arithmetic import Product, Rounding, exact, in_bf16, kept, to_bf16, to_fp8
from scripts.alternatives.case import Case, Outputs, zeros_like_outputs


def gathered(pages: Tensor, indices: Tensor, length: int) -> Tensor:
    """[length, heads, dim], token after token."""
    size = pages.shape[1]
    return torch.stack([pages[indices[token // size], token % size] for token in range(length)]).float()


def dense(
    query: Tensor, key: Tensor, value: Tensor, visible: Tensor, weights: Rounding
) -> tuple[Tensor, Tensor]:
    """Of one sequence with scaled queries: outputs and log-sum-exp to base 2, by exponentials to base 2."""
    group = query.shape[1] // key.shape[1]
    outputs, sums = [], []
    for head in range(query.shape[1]):
        scores = exact(query[:, head], key[:, head // group]) * math.log2(math.e)
        scores = scores.masked_fill(~visible, float("-inf"))
        top = scores.amax(dim=1, keepdim=True)
        weight = torch.exp2(scores - top)
        total = weight.sum(dim=1, keepdim=True)
        outputs.append(exact(weights(weight), value[:, head // group].T) / total)
        sums.append((top + total.log2())[:, 0])
    return torch.stack(outputs, dim=1), torch.stack(sums, dim=1)


def prefill(
    query: Tensor,
    key_pages: Tensor,
    value_pages: Tensor,
    query_starts: Tensor,
    page_starts: Tensor,
    page_indices: Tensor,
    last_page_tokens: Tensor,
    score_scale: float,
    *,
    weights: Rounding = kept,
    operands: Rounding = kept,
    scaled_query: Rounding = kept,
    causal: bool = True,
    window: int | None = None,
    in_order: bool = False,
    base: float = 2.0,
) -> Outputs:
    """Pages made dense first. `window`: only so many last keys; `in_order`: the page table is not looked at."""
    outputs, sums = [], []
    if in_order:
        page_indices = torch.arange(len(page_indices))
    for i in range(len(page_starts) - 1):
        mine = scaled_query(query[query_starts[i] : query_starts[i + 1]].float() * score_scale)
        pages = page_indices[page_starts[i] : page_starts[i + 1]]
        length = (len(pages) - 1) * key_pages.shape[1] + int(last_page_tokens[i])
        key, value = gathered(key_pages, pages, length), gathered(value_pages, pages, length)
        earlier = length - len(mine)
        visible = torch.ones(len(mine), length, dtype=torch.bool)
        visible = visible.tril(earlier) if causal else visible
        visible = visible.triu(earlier - window + 1) if window is not None else visible
        output, lse = dense(mine, operands(key), operands(value), visible, weights)
        outputs.append(output)
        sums.append(lse / math.log2(base))
    return torch.cat(outputs).bfloat16(), torch.cat(sums)


def decode(
    query: Tensor,
    key_pages: Tensor,
    value_pages: Tensor,
    page_starts: Tensor,
    page_indices: Tensor,
    last_page_tokens: Tensor,
    score_scale: float,
    **otherwise: Any,
) -> Outputs:
    """Prefill of one token a sequence."""
    starts = torch.arange(len(page_starts))
    return prefill(
        query,
        key_pages,
        value_pages,
        starts,
        page_starts,
        page_indices,
        last_page_tokens,
        score_scale,
        **otherwise,
    )


def add_rmsnorm(
    branch: Tensor,
    stream: Tensor,
    gain: Tensor,
    eps: float,
    *,
    total_for_norm: Rounding = kept,
    between: Rounding = kept,
    with_gain: bool = True,
    keep_branch: float = 1.0,
    keep_stream: float = 1.0,
) -> Outputs:
    total = keep_branch * branch.float() + keep_stream * stream.float()
    wide = total_for_norm(total).double()
    normed = between((wide / (wide.pow(2).mean(dim=1, keepdim=True) + eps).sqrt()).float())
    return (normed * gain.float() if with_gain else normed).bfloat16(), total.bfloat16()


def choose(logits: Tensor, correction: Tensor, scale: float, wrong: str) -> list[dict[int, float]]:
    """Expert numbers and weights of each token, by Python's sorting."""
    chosen = []
    for row in torch.sigmoid(logits).tolist():
        sway = [0.0] * len(row) if wrong == "no correction" else correction.float().tolist()
        swayed = [a + c for a, c in zip(row, sway, strict=True)]
        size = len(row) // 8
        groups = [range(g * size, (g + 1) * size) for g in range(8)]
        strength = [sum(sorted((swayed[e] for e in group), reverse=True)[:2]) for group in groups]
        best = sorted(range(8), key=lambda g: -strength[g])[: 8 if wrong == "no groups" else 4]
        experts = sorted((e for g in best for e in groups[g]), key=lambda e: -swayed[e])[:8]
        total = 1.0 if wrong == "weights not made to sum" else sum(row[e] for e in experts)
        chosen.append({e: row[e] / total * scale for e in experts})
    return chosen


def moe_fp8(
    router_logits: Tensor,
    router_correction: Tensor,
    token_fp8: Tensor,
    token_scale: Tensor,
    gate_up_fp8: Tensor,
    gate_up_scale: Tensor,
    down_fp8: Tensor,
    down_scale: Tensor,
    first_local_expert: int,
    routed_scale: float,
    *,
    product: Product = exact,
    inner_kept: Rounding = kept,
    wrong: str = "",
) -> Outputs:
    """Token after token."""

    def values(stored: Tensor, scale: Tensor, rows: int) -> Tensor:
        return stored.float() * torch.kron(scale, torch.ones(rows, 128))

    tokens = values(token_fp8, token_scale, 1)
    output = torch.zeros_like(tokens)
    rows_of: dict[int, list[tuple[int, float]]] = {}
    for row, weights in enumerate(choose(router_logits, router_correction, routed_scale, wrong)):
        for expert, weight in weights.items():
            rows_of.setdefault(expert - first_local_expert, []).append((row, weight))
    for local in range(gate_up_fp8.shape[0]):
        rows = [row for row, _ in rows_of.get(local, [])]
        if not rows:
            continue
        gate_up = product(tokens[rows], values(gate_up_fp8[local], gate_up_scale[local], 128))
        gate, up = gate_up.chunk(2, dim=1)
        inner = inner_kept(up if wrong == "no gate" else gate / (1.0 + torch.exp(-gate)) * up)
        result = product(inner, values(down_fp8[local], down_scale[local], 128))
        output[rows] += result * torch.tensor([weight for _, weight in rows_of[local]])[:, None]
    return (output.bfloat16(),)


def fp8_by_block(inner: Tensor) -> Tensor:
    """e4m3 with a scale every 128 elements, as served kernels keep what goes between the two products."""
    return to_fp8(inner.unflatten(1, (-1, 128))).flatten(1)


_ATTENTION_WRONG: dict[str, dict[str, Any]] = {
    "page table ignored": {"in_order": True},
    "natural log-sum-exp": {"base": math.e},
    "last 128 keys": {"window": 128},
    "keys and values in fp8": {"operands": to_fp8},
}

FLASHINFER = {
    "fi_paged_prefill": Case(
        small={"batch_size": 3, "total_q": 40, "earlier_tokens": 5, "page_size": 4},
        measured=(
            {"batch_size": 4, "total_q": 256, "earlier_tokens": 128, "page_size": 1},
            {"batch_size": 1, "total_q": 64, "earlier_tokens": 4096, "page_size": 16},
        ),
        honest={
            "fp32": prefill,
            "weights in bf16": partial(prefill, weights=to_bf16),
            "scaled query in bf16": partial(prefill, scaled_query=to_bf16),
        },
        wrong={
            "zeros": zeros_like_outputs(prefill),
            "not causal": partial(prefill, causal=False),
            **{name: partial(prefill, **how) for name, how in _ATTENTION_WRONG.items()},
        },
    ),
    "fi_paged_decode": Case(
        small={"batch_size": 3, "earlier_tokens": 50, "page_size": 4},
        measured=(
            {"batch_size": 8, "earlier_tokens": 4088, "page_size": 1},
            {"batch_size": 1, "earlier_tokens": 32767, "page_size": 16},
        ),
        honest={
            "fp32": decode,
            "weights in bf16": partial(decode, weights=to_bf16),
            "scaled query in bf16": partial(decode, scaled_query=to_bf16),
        },
        wrong={
            "zeros": zeros_like_outputs(decode),
            **{name: partial(decode, **how) for name, how in _ATTENTION_WRONG.items()},
        },
    ),
    "fi_fused_add_rmsnorm": Case(
        small={"num_rows": 7, "width": 720},
        measured=({"num_rows": 64, "width": 4096},),
        honest={
            "fp32": add_rmsnorm,
            "norm of the rounded sum": partial(add_rmsnorm, total_for_norm=to_bf16),
            "rounded before the gain": partial(add_rmsnorm, between=to_bf16),
        },
        wrong={
            "zeros": zeros_like_outputs(add_rmsnorm),
            "no gain": partial(add_rmsnorm, with_gain=False),
            "stream alone": partial(add_rmsnorm, keep_branch=0.0),
            "branch alone": partial(add_rmsnorm, keep_stream=0.0),
            "fp8 inside": partial(add_rmsnorm, between=to_fp8),
        },
    ),
    "fi_moe_fp8": Case(
        small={"num_tokens": 13, "num_local_experts": 4},
        measured=({"num_tokens": 64, "num_local_experts": 8},),
        honest={
            "fp32": moe_fp8,
            "bf16 operands": partial(moe_fp8, product=in_bf16),
            "inner in fp8 by block": partial(moe_fp8, inner_kept=fp8_by_block),
        },
        wrong={
            "zeros": zeros_like_outputs(moe_fp8),
            **{
                name: partial(moe_fp8, wrong=name)
                for name in ("no correction", "no groups", "weights not made to sum", "no gate")
            },
        },
    ),
}
