"""Small references of kinds that the shipped tasks leave out, with sizes small enough to run."""

from __future__ import annotations

from tasks.definition import Definition
from tasks.workload import Workload

Sized = dict[str, tuple[tuple[str, ...] | None, str]]


def reference(
    name: str, axes: dict[str, int], inputs: Sized, outputs: list[str], body: str
) -> tuple[Definition, Workload]:
    """A definition whose outputs are declared loosely (nothing here reads their shapes), and one workload."""
    tensors = {n: {"shape": list(shape) if shape is not None else None, "dtype": dtype}
               for n, (shape, dtype) in inputs.items()}  # fmt: skip
    source = f"import torch\nimport torch.nn.functional as F\n\n{body}"
    definition = Definition.model_validate(
        {
            "name": name,
            "axes": {axis: {"type": "var"} for axis in axes},
            "inputs": tensors,
            "outputs": {n: {"shape": [], "dtype": "float32"} for n in outputs},
            "reference": source,
        }
    )
    drawn = {n: {"type": "random"} if shape is not None else {"type": "scalar", "value": 0.5}
             for n, (shape, _) in inputs.items()}  # fmt: skip
    return definition, Workload.model_validate({"uuid": name, "axes": axes, "inputs": drawn})


X = (("t", "d"), "float32")
REFERENCES = [
    reference(
        "layer_norm_backward", {"t": 24, "d": 64}, {"x": X, "w": (("d",), "float32"), "g": X}, ["gx", "gw"],
        """def run(x, w, g):
    x = x.detach().requires_grad_(True)
    w = w.detach().requires_grad_(True)
    with torch.enable_grad():
        y = F.layer_norm(x, (x.shape[-1],), w)
    return torch.autograd.grad(y, (x, w), g)
""",
    ),
    reference(
        "attention_backward", {"h": 2, "t": 16, "d": 8},
        {n: (("h", "t", "d"), "float32") for n in ("q", "k", "v", "g")}, ["gq", "gk", "gv"],
        """def run(q, k, v, g):
    q, k, v = (x.detach().requires_grad_(True) for x in (q, k, v))
    with torch.enable_grad():
        p = torch.softmax(q @ k.transpose(-1, -2) * q.shape[-1] ** -0.5, dim=-1)
        out = p @ v
    return torch.autograd.grad(out, (q, k, v), g)
""",
    ),
    reference(
        "custom_function", {"t": 24, "d": 64}, {"x": X, "g": X}, ["y", "gx"],
        """class Squash(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        y = torch.tanh(x)
        ctx.save_for_backward(y)
        return y

    @staticmethod
    def backward(ctx, g):
        (y,) = ctx.saved_tensors
        return g * (1 - y * y)

def run(x, g):
    x = x.detach().requires_grad_(True)
    with torch.enable_grad():
        y = Squash.apply(x)
        y.backward(g)
    return y.detach(), x.grad
""",
    ),
    reference(
        "routed_experts", {"t": 40, "d": 16, "e": 6, "f": 24},
        {"x": X, "router": (("e", "d"), "float32"), "up": (("e", "f", "d"), "float32"),
         "down": (("e", "d", "f"), "float32")},
        ["y"],
        """@torch.no_grad()
def run(x, router, up, down):
    weight, chosen = torch.topk(torch.softmax(x @ router.T, dim=-1), 2, dim=-1)
    y = torch.zeros_like(x)
    for expert in range(up.shape[0]):
        row, slot = torch.where(chosen == expert)
        if row.numel() == 0:
            continue
        y.index_add_(0, row, (F.silu(x[row] @ up[expert].T) @ down[expert].T) * weight[row, slot, None])
    return y
""",
    ),
    reference(
        "masked_experts", {"t": 32, "d": 16, "e": 4},
        {"x": X, "assigned": (("t",), "int64"), "w": (("e", "d", "d"), "float32")}, ["y"],
        """@torch.no_grad()
def run(x, assigned, w):
    assigned = assigned.abs() % w.shape[0]
    y = torch.empty_like(x)
    for expert in torch.unique(assigned).tolist():
        mask = assigned == expert
        y[mask] = x[mask] @ w[expert]
    return y
""",
    ),
    reference(
        "convolution", {"b": 2, "c": 8, "s": 12},
        {"x": (("b", "c", "s", "s"), "float32"), "w": (("c", "c", "3", "3"), "float32"), "bias": (("c",), "float32")},
        ["y"],
        """@torch.no_grad()
def run(x, w, bias):
    y = F.relu(F.conv2d(x, w, bias, padding=1))
    return F.group_norm(y, 2) + F.interpolate(F.avg_pool2d(x, 2), scale_factor=2, mode="nearest")
""",
    ),
    reference(
        "convolution_backward", {"b": 2, "c": 8, "s": 12},
        {"x": (("b", "c", "s", "s"), "float32"), "w": (("c", "c", "3", "3"), "float32"),
         "g": (("b", "c", "s", "s"), "float32")},
        ["gx", "gw"],
        """def run(x, w, g):
    gx = torch.nn.grad.conv2d_input(x.shape, w, g, padding=1)
    return gx, torch.nn.grad.conv2d_weight(x, w.shape, g, padding=1)
""",
    ),
    reference(
        "state_space_scan", {"b": 2, "t": 96, "d": 8, "n": 4},
        {"x": (("b", "t", "d"), "float32"), "delta": (("b", "t", "d"), "float32"), "a": (("d", "n"), "float32"),
         "bm": (("b", "t", "n"), "float32"), "c": (("b", "t", "n"), "float32")},
        ["y"],
        """@torch.no_grad()
def run(x, delta, a, bm, c):
    delta, a = F.softplus(delta), -a.abs()
    state = x.new_zeros(x.shape[0], x.shape[2], a.shape[1])
    outs = []
    for t in range(x.shape[1]):
        decay = torch.exp(delta[:, t, :, None] * a)
        state = decay * state + delta[:, t, :, None] * bm[:, t, None, :] * x[:, t, :, None]
        outs.append((state * c[:, t, None, :]).sum(-1))
    return torch.stack(outs, dim=1)
""",
    ),
    reference(
        "causal_convolution_and_gate", {"b": 2, "t": 32, "d": 8},
        {"x": (("b", "t", "d"), "float32"), "w": (("d", "1", "4"), "float32")}, ["y"],
        """@torch.no_grad()
def run(x, w):
    y = F.conv1d(F.pad(x.transpose(1, 2), (3, 0)), w, groups=w.shape[0])
    return F.silu(y).transpose(1, 2).contiguous().cumsum(dim=1)
""",
    ),
    reference(
        "top_k_of_sorted", {"t": 16, "d": 64}, {"x": X}, ["values", "places", "kept"],
        """@torch.no_grad()
def run(x):
    values, places = torch.sort(x, dim=-1, descending=True)
    kept = torch.cumsum(torch.softmax(values, dim=-1), dim=-1) < 0.9
    values = values.masked_fill(~kept, float("-inf"))
    return values[:, :8], places[:, :8], torch.gather(values, 1, places[:, :8].argsort(dim=-1))
""",
    ),
    reference(
        "ragged_rows", {"t": 50, "d": 16, "n": 5},
        {"x": X, "lengths": (("n",), "int32")}, ["y"],
        """@torch.no_grad()
def run(x, lengths):
    shares = lengths.abs() % 10 + 1
    ends = torch.cumsum(shares, 0)
    y = torch.zeros(len(shares), x.shape[1], device=x.device)
    start = 0
    for i, end in enumerate(ends.cpu().numpy().tolist()):
        y[i] = x[start:min(end, x.shape[0])].mean(dim=0)
        start = min(end, x.shape[0] - 1)
    return y
""",
    ),
    reference(
        "attention_by_query", {"t": 120, "d": 8, "h": 4, "n": 3},
        {"q": (("t", "h", "d"), "float32"), "k": (("t", "h", "d"), "float32"), "lengths": (("n",), "int32")}, ["y"],
        """@torch.no_grad()
def run(q, k, lengths):
    share = lengths.abs() % 5 + 1
    ends = (torch.cumsum(share, 0) * q.shape[0] // share.sum()).tolist()
    y = torch.zeros_like(q)
    start = 0
    for i in range(len(ends)):
        end = ends[i]
        keys, delta = k[start:end], 3
        for row in range(end - start):
            seen = min(row + 1 - delta, end - start)
            if seen <= 0:
                continue
            for head in range(q.shape[1]):
                scores = torch.mv(keys[:seen, head], q[start + row, head])
                y[start + row, head] = torch.softmax(scores, dim=0) @ keys[:seen, head]
        start = end
    return y
""",
    ),
    reference(
        "fused_calls", {"b": 1, "h": 2, "t": 16, "d": 8},
        {**{n: (("b", "h", "t", "d"), "float32") for n in ("q", "k", "v")}, "w": (("d",), "float32")}, ["y"],
        """@torch.no_grad()
def run(q, k, v, w):
    q = F.rms_norm(q, (q.shape[-1],), w, 1e-6)
    return F.scaled_dot_product_attention(q, k, v, is_causal=True)
""",
    ),
    reference(
        "complex_rotation", {"t": 16, "d": 32}, {"x": X, "theta": (("t", "d"), "float32")}, ["y"],
        """@torch.no_grad()
def run(x, theta):
    angle = torch.polar(torch.ones_like(theta[:, ::2]), theta[:, ::2])
    turned = torch.view_as_complex(x.reshape(x.shape[0], -1, 2)) * angle
    return torch.view_as_real(turned).flatten(1) + torch.fft.rfft(x, dim=-1).abs().mean()
""",
    ),
    reference(
        "looks_for_the_bad", {"t": 16, "d": 32}, {"x": X}, ["y"],
        """@torch.no_grad()
def run(x):
    if torch.isnan(x).any() or x.abs().max().item() == 0.0:
        return x
    scale = float(x.abs().max()) / 448.0
    return (x / scale).clamp(-448, 448).to(torch.float8_e4m3fn).float() * scale
""",
    ),
    reference(
        "einsum_and_embedding", {"t": 12, "v": 50, "d": 16, "h": 4},
        {"ids": (("t",), "int64"), "table": (("v", "d"), "float32"), "w": (("h", "d", "d"), "float32")}, ["y", "n"],
        """@torch.no_grad()
def run(ids, table, w):
    ids = ids.abs() % table.shape[0]
    x = F.embedding(ids, table)
    y = torch.einsum("td,hde->the", x, w)
    counts = torch.bincount(ids, minlength=table.shape[0])
    return y.amax(dim=1), counts
""",
    ),
]  # fmt: skip
