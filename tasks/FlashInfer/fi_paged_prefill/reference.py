"""Chunks of new tokens attend causally to themselves and to earlier tokens; keys and values lie in pages."""

import math

import torch

ROWS_AT_A_TIME = 512
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
    page_size, head_dim = axes["page_size"], axes["head_dim"]
    new = share(axes["total_q"], axes["batch_size"])
    lengths = [count + axes["earlier_tokens"] for count in new]
    starts, indices, last = page_table(lengths, page_size, axes["table_size"], axes["num_pages"], device)
    cache = (axes["num_pages"], page_size, axes["num_kv_heads"], head_dim)
    query = torch.randn(axes["total_q"], axes["num_q_heads"], head_dim, device=device)
    query *= sharpness(lengths, device).repeat_interleave(torch.tensor(new, device=device))[:, None, None]
    return {
        "query": query.bfloat16(),
        "key_pages": torch.randn(cache, device=device, dtype=torch.bfloat16),
        "value_pages": torch.randn(cache, device=device, dtype=torch.bfloat16),
        "query_starts": torch.tensor([0, *new]).cumsum(0).to(device=device, dtype=torch.int32),
        "page_starts": starts,
        "page_indices": indices,
        "last_page_tokens": last,
        "score_scale": head_dim**-0.5,
    }


def attend(query, key, value, first_position, score_scale):
    """Of [rows, heads, dim] queries at first_position onwards: fp32 outputs, and log-sum-exp to base 2."""
    grouped = query.unflatten(1, (key.shape[1], -1))
    scores = torch.einsum("rhgd,khd->rhgk", grouped, key) * score_scale
    position = first_position + torch.arange(query.shape[0], device=query.device)
    future = torch.arange(key.shape[0], device=query.device) > position[:, None]
    scores = scores.masked_fill(future[:, None, None, :], float("-inf"))
    attended = torch.einsum("rhgk,khd->rhgd", scores.softmax(dim=-1), value)
    return attended.flatten(1, 2), scores.logsumexp(dim=-1).flatten(1, 2) / math.log(2.0)


@torch.no_grad()
def run(
    query,
    key_pages,
    value_pages,
    query_starts,
    page_starts,
    page_indices,
    last_page_tokens,
    score_scale,
):
    page_size = key_pages.shape[1]
    output = torch.zeros_like(query)
    lse = torch.full(query.shape[:2], float("-inf"), device=query.device)
    rows, starts, last = query_starts.tolist(), page_starts.tolist(), last_page_tokens.tolist()
    for sequence in range(len(rows) - 1):
        begin, end = rows[sequence], rows[sequence + 1]
        pages = page_indices[starts[sequence] : starts[sequence + 1]].long()
        if begin == end or pages.numel() == 0:
            continue
        length = (pages.numel() - 1) * page_size + last[sequence]
        key = key_pages[pages].flatten(0, 1)[:length].float()
        value = value_pages[pages].flatten(0, 1)[:length].float()
        for row in range(begin, end, ROWS_AT_A_TIME):
            upto = min(row + ROWS_AT_A_TIME, end)
            position = length - (end - row)  # the last query sees the last key
            attended, lse[row:upto] = attend(query[row:upto].float(), key, value, position, score_scale)
            output[row:upto] = attended.to(query.dtype)
    return output, lse
