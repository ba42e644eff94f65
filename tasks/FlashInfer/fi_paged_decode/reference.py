"""One query token a sequence attends to that sequence's keys and values, which lie scattered in pages."""

import math

import torch

# Lengths of a served batch; a total that cannot be shared evenly is cut in these proportions.
UNEVEN = (37, 901, 2222, 15, 4096, 77)


def share(total, parts):
    """`parts` lengths that sum to `total`: equal ones where that is possible, otherwise very unequal ones."""
    if total % parts == 0:
        return [total // parts] * parts
    weights = [UNEVEN[i % len(UNEVEN)] for i in range(parts)]
    lengths = [total * weight // sum(weights) for weight in weights]
    for i in range(total - sum(lengths)):
        lengths[i] += 1
    return lengths


def page_table(lengths, page_size, table_size, num_pages, device):
    """Pages in random order, each used once: starts, indices padded with page 0, tokens in each last page."""
    pages = [-(-length // page_size) for length in lengths]
    starts = torch.tensor([0, *pages]).cumsum(0).to(device=device, dtype=torch.int32)
    indices = torch.zeros(table_size, device=device, dtype=torch.int32)
    indices[: sum(pages)] = torch.randperm(num_pages, device=device)[: sum(pages)].int()
    last = [length - max(count - 1, 0) * page_size for length, count in zip(lengths, pages, strict=True)]
    return starts, indices, torch.tensor(last, device=device, dtype=torch.int32)


def sharpness(lengths, device):
    """Std of each sequence's queries, growing with its length: about 64 keys matter however many there are."""
    logs = [math.log(max(length, 1) / 64) for length in lengths]
    return torch.tensor([max(log, 0.25) ** 0.5 for log in logs], device=device)


def get_inputs(axes_and_scalars, device):
    axes = axes_and_scalars
    batch, page_size, head_dim = axes["batch_size"], axes["page_size"], axes["head_dim"]
    lengths = [earlier + 1 for earlier in share(axes["earlier_tokens"], batch)]
    starts, indices, last = page_table(lengths, page_size, axes["table_size"], axes["num_pages"], device)
    cache = (axes["num_pages"], page_size, axes["num_kv_heads"], head_dim)
    query = torch.randn(batch, axes["num_q_heads"], head_dim, device=device)
    query *= sharpness(lengths, device)[:, None, None]
    return {
        "query": query.bfloat16(),
        "key_pages": torch.randn(cache, device=device, dtype=torch.bfloat16),
        "value_pages": torch.randn(cache, device=device, dtype=torch.bfloat16),
        "page_starts": starts,
        "page_indices": indices,
        "last_page_tokens": last,
        "score_scale": head_dim**-0.5,
    }


@torch.no_grad()
def run(query, key_pages, value_pages, page_starts, page_indices, last_page_tokens, score_scale):
    batch, num_q_heads, head_dim = query.shape
    page_size, num_kv_heads = key_pages.shape[1:3]
    output = torch.zeros_like(query)
    lse = torch.full((batch, num_q_heads), float("-inf"), device=query.device)
    starts, last = page_starts.tolist(), last_page_tokens.tolist()
    for sequence in range(batch):
        pages = page_indices[starts[sequence] : starts[sequence + 1]].long()
        if pages.numel() == 0:
            continue
        length = (pages.numel() - 1) * page_size + last[sequence]
        key = key_pages[pages].flatten(0, 1)[:length].float()
        value = value_pages[pages].flatten(0, 1)[:length].float()
        grouped = query[sequence].float().view(num_kv_heads, -1, head_dim)
        scores = torch.einsum("hgd,khd->hgk", grouped, key) * score_scale
        # The log-sum-exp is kept to base 2: the log2 of the sum of exp(score).
        lse[sequence] = scores.logsumexp(dim=-1).flatten() / math.log(2.0)
        attended = torch.einsum("hgk,khd->hgd", scores.softmax(dim=-1), value)
        output[sequence] = attended.flatten(0, 1).to(query.dtype)
    return output, lse
