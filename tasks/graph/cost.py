"""What a node or a group costs at most speeds, to see which matter; not a bound and not a prediction."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache

from tasks.gpu import Arithmetic, Gpu, load_gpu
from tasks.graph.model import Group, Node

DEFAULT_HARDWARE = "B200"


def node_cost(node: Node, gpu: Gpu | None = None) -> float:
    """Milliseconds of the slowest of memory, matrix units and vector units."""
    return _cost(node.bytes, node.flops, node.vector_operations, gpu or _default())


def group_cost(group: Group, gpu: Gpu | None = None) -> float:
    """The same for a group, of which only what crosses its border is moved."""
    return _cost(group.bytes, group.flops, group.vector_operations, gpu or _default())


def _cost(moved: int, flops: Mapping[Arithmetic, int], vector: int, gpu: Gpu) -> float:
    matrix = sum(amount / gpu.peak(arithmetic) for arithmetic, amount in flops.items())
    return max(moved / gpu.bandwidth, matrix, vector / gpu.peak("fp32"))


@cache
def _default() -> Gpu:
    return load_gpu(DEFAULT_HARDWARE)
