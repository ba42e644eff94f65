"""Capture in its own process: it ends whatever the reference does, and says what it could not see."""

from __future__ import annotations

import json
import time
from pathlib import Path
from xml.etree import ElementTree

import pytest
from click.testing import CliRunner

from pipeline.cli import main
from tasks import load
from tasks.graph import capture, traced
from tasks.graph.model import Tensor
from tasks.graph.smaller import BUDGET, smaller_workload
from tests.graph.references import X, reference

HOSTILE = {
    "never ends": "def run(x):\n    while True:\n        pass\n",
    "waits and catches": "import time\ndef run(x):\n    while True:\n        try:\n            time.sleep(9)\n"
    "        except BaseException:\n            pass\n",
    "leaves": "import os\ndef run(x):\n    os._exit(3)\n",
    "raises": "def run(x):\n    raise ValueError('no')\n",
}


@pytest.mark.parametrize("body", HOSTILE.values(), ids=HOSTILE.keys())
def test_whatever_a_reference_does_a_graph_comes_back(body: str) -> None:
    definition, workload = reference("hostile", {"t": 8, "d": 4}, {"x": X}, ["y"], body)
    started = time.monotonic()
    graph = capture(definition, workload, limit_s=0.2)
    assert time.monotonic() - started < 60  # most of which is the start of the other process
    assert graph.capture == "opaque"
    assert graph.opaque_share == 1.0
    assert graph.note
    (node,) = graph.nodes
    assert node.opaque
    assert node.bytes_read == 8 * 4 * 4
    assert graph.bytes == node.bytes_read + 4


def test_what_is_too_long_is_followed_smaller_and_scaled() -> None:
    body = """def run(x):
    for _ in range(x.shape[0]):
        for _ in range(40):
            x = x * 2 + x.sum(dim=1, keepdim=True)
            if x.shape[0] > 5000:
                while True:
                    pass
    return x
"""
    axes = {"t": 65_536, "d": 4096}
    definition, workload = reference("long", axes, {"x": X}, ["y"], body)
    assert smaller_workload(definition, workload, BUDGET) is not None
    graph = capture(definition, workload, limit_s=2)
    assert graph.capture == "concrete-small"
    assert "scaled" in graph.note
    assert graph.inputs[0].shape == (65_536, 4096)


def test_a_hundred_gigabytes_are_only_shapes() -> None:
    body = "def run(x):\n    y = x @ x.T\n    return torch.softmax(y.to(torch.float32) + torch.ones(len(x), len(x)), -1)\n"
    axes = {"t": 160_000, "d": 4096}
    graph = capture(*reference("large", axes, {"x": X}, ["y"], body))
    assert graph.capture == "fake"
    assert graph.flops == {"fp32": 2 * 160_000**2 * 4096}
    assert graph.outputs[0].bytes == 4 * 160_000**2


def test_the_same_graph_here_and_there() -> None:
    task = load("fi_moe_fp8")
    graph = capture(task, task.workloads[1])
    assert capture(task, task.workloads[1]) == graph
    names = {node.name for node in traced(task, task.workloads[1]).graph.nodes}
    assert {node.name for node in graph.nodes if len(node.outputs) == 1} <= names


def test_packed_numbers_are_counted_as_numbers_and_as_bytes() -> None:
    packed = Tensor(name="w", shape=(8, 32), dtype="float4_e2m1fn_x2")
    assert (packed.bytes, packed.elements) == (256, 512)


def test_show_draws_and_tells(tmp_path: Path) -> None:
    picture = tmp_path / "graph.svg"
    arguments = ["show", "l2_mlp_block", "--graph", "--workload", "1", "--svg", str(picture)]
    shown = CliRunner().invoke(main, arguments)
    assert shown.exit_code == 0, shown.output
    assert "matmul" in shown.output
    root = ElementTree.parse(picture).getroot()
    assert root.get("role") == "img"
    kinds = [child.tag.rpartition("}")[2] for child in root]
    assert kinds[:2] == ["title", "desc"]
    again = CliRunner().invoke(main, [*arguments[:-2], "--json"])
    assert again.exit_code == 0, again.output
    told = json.loads(again.stdout)
    assert {group["kind"] for group in told["graph"]["groups"]} == {"rows", "matmul"}


def test_a_workload_that_there_is_not() -> None:
    shown = CliRunner().invoke(main, ["show", "l2_mlp_block", "--graph", "--workload", "999"])
    assert shown.exit_code == 2
    assert "--workload" in shown.output
