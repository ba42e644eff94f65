"""What is put into one kernel, and what crosses its border."""

from __future__ import annotations

import pytest

from tasks import load
from tasks.graph.follow import graph_here
from tasks.graph.model import Graph
from tests.graph.references import REFERENCES, X, reference

NORM = """def run(x, w):
    y = x.float()
    return (y * torch.rsqrt(y.pow(2).mean(-1, keepdim=True) + 1e-6) * w.float()).to(x.dtype)
"""
ATTENTION = """def run(q, k, v):
    scores = (q @ k.transpose(-1, -2)) * 0.1
    return torch.softmax(scores.float(), dim=-1).to(q.dtype) @ v
"""


def captured(name: str, axes: dict[str, int], inputs: object, body: str, outputs: int = 1) -> Graph:
    names = [f"y{i}" for i in range(outputs)]
    return graph_here(*reference(name, axes, inputs, names, body))  # type: ignore[arg-type]


def test_a_norm_is_one_kernel_that_reads_and_writes_once() -> None:
    rows = {"x": (("t", "d"), "bfloat16"), "w": (("d",), "bfloat16")}
    graph = captured("norm", {"t": 1000, "d": 512}, rows, NORM)
    (group,) = graph.groups
    assert group.kind == "rows"
    assert group.reads == {"x": 1_024_000, "w": 1024}
    assert list(group.writes.values()) == [1_024_000]


def test_attention_keeps_its_scores_to_itself() -> None:
    three = {n: (("h", "t", "d"), "bfloat16") for n in ("q", "k", "v")}
    graph = captured("attention", {"h": 4, "t": 256, "d": 64}, three, ATTENTION)
    (group,) = graph.groups
    assert group.kind == "attention"
    assert group.bytes == 4 * (4 * 256 * 64 * 2)


def test_scores_that_are_an_output_are_written() -> None:
    three = {n: (("h", "t", "d"), "bfloat16") for n in ("q", "k", "v")}
    body = "def run(q, k, v):\n    p = torch.softmax(q @ k.transpose(-1, -2), dim=-1)\n    return p @ v, p\n"
    graph = captured("attention", {"h": 4, "t": 256, "d": 64}, three, body, outputs=2)
    assert sum(sum(group.writes.values()) for group in graph.groups) == 4 * 256 * (64 + 256) * 2


def test_a_cast_weight_is_read_narrow_by_each_product() -> None:
    inputs = {"x": (("t", "d"), "float32"), "w": (("d", "d"), "bfloat16")}
    body = "def run(x, w):\n    v = w.float()\n    return torch.relu(x @ v), x.exp() @ v.T\n"
    graph = captured("cast", {"t": 64, "d": 128}, inputs, body, outputs=2)
    products = [group for group in graph.groups if group.kind == "matmul"]
    assert [group.reads["w"] for group in products] == [128 * 128 * 2] * 2
    assert products[1].recomputed
    assert any("relu" in node for node in products[0].nodes)


def test_a_reduction_over_everything_ends_a_kernel() -> None:
    body = "def run(x):\n    return x / x.abs().max()\n"
    graph = captured("scale", {"t": 4096, "d": 512}, {"x": X}, body)
    assert [group.reads["x"] for group in graph.groups if "x" in group.reads] == [4096 * 512 * 4] * 2


@pytest.mark.parametrize("case", REFERENCES, ids=lambda case: case[0].name)
def test_groups_hold_every_node_once_and_depend_backwards(case: object) -> None:
    graph = graph_here(*case)  # type: ignore[misc]
    held = [name for group in graph.groups for name in group.nodes]
    assert len(held) == len(set(held))
    recomputed = {name for group in graph.groups for name in group.recomputed}
    made = {tensor.name: node.name for node in graph.nodes for tensor in node.outputs}
    needed = {made[name] for name in graph.results if name in made}
    assert needed <= set(held)
    assert recomputed <= {node.name for node in graph.nodes}
    home = {name: number for number, group in enumerate(graph.groups) for name in group.nodes}
    for number, group in enumerate(graph.groups):
        for name in group.reads:
            assert home.get(made.get(name, ""), -1) < number or name in {t.name for t in graph.inputs}
    total = {k: sum(g.flops.get(k, 0) for g in graph.groups) for k in graph.flops}
    assert total == graph.flops


def test_rows_that_an_index_leaves_out_are_not_counted() -> None:
    inputs = {"table": (("v", "d"), "float32"), "ids": (("t",), "int64")}
    body = "def run(table, ids):\n    return (table * 2)[ids.abs() % 7]\n"
    graph = captured("lookup", {"v": 1000, "d": 16, "t": 200}, inputs, body)
    assert graph.touched["table"] == 7 * 16 * 4
    assert graph.touched["ids"] == 200 * 8


def test_experts_that_no_token_chose_are_not_counted() -> None:
    inputs = {"x": (("t", "d"), "float32"), "w": (("e", "d", "d"), "float32"), "which": (("t",), "int64")}
    body = """def run(x, w, which):
    y = torch.zeros_like(x)
    for e in range(w.shape[0]):
        rows = torch.nonzero(which.abs() % 3 == e).squeeze(1)
        if rows.numel():
            y.index_add_(0, rows, x[rows] @ w[e].T)
    return y
"""
    graph = captured("experts", {"t": 100, "d": 16, "e": 8}, inputs, body)
    assert graph.touched["w"] == 3 * 16 * 16 * 4


def test_the_shipped_decoder_has_a_group_for_each_product_and_the_attention() -> None:
    task = load("l2_decoder")
    graph = graph_here(task.definition, task.workloads[-1])
    kinds = [group.kind for group in graph.groups]
    assert kinds.count("attention") == 1
    assert kinds.count("matmul") == 7
