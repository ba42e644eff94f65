"""References of other kinds: each is followed without memory, counts right, and replays."""

from __future__ import annotations

from typing import Any

import pytest
import torch

from tasks.definition import Definition
from tasks.graph.follow import graph_here, module_here
from tasks.inputs import InputGenerator, load_reference
from tasks.workload import Workload
from tests.graph.counting import counted
from tests.graph.references import REFERENCES

CASES = [pytest.param(d, w, id=d.name) for d, w in REFERENCES]
LOOSE = {"custom_function": 0.12, "masked_experts": 0.03, "fused_calls": 1.0}
"""Bytes differ where torch does more on the host: a gradient is copied, a mask is searched inside one call, a norm
is taken to pieces."""


def _listed(value: Any) -> list[torch.Tensor]:
    return [value] if isinstance(value, torch.Tensor) else list(value)


@pytest.mark.parametrize(("definition", "workload"), CASES)
def test_counts_agree(definition: Definition, workload: Workload) -> None:
    inputs = InputGenerator(definition, workload).make(seed=1)
    count, expected = counted(load_reference(definition).run, [_copy(value) for value in inputs])
    graph = graph_here(definition, workload, given=inputs)
    assert sum(graph.flops.values()) == pytest.approx(count.flops, rel=0.02)
    assert graph.bytes == pytest.approx(count.bytes, rel=LOOSE.get(definition.name, 0.02))
    assert graph.opaque_share < 0.2
    assert [t.shape for t in graph.outputs] == [tuple(t.shape) for t in _listed(expected)]


@pytest.mark.parametrize(("definition", "workload"), CASES)
def test_module_replays(definition: Definition, workload: Workload) -> None:
    inputs = InputGenerator(definition, workload).make(seed=1)
    expected = _listed(load_reference(definition).run(*[_copy(value) for value in inputs]))
    module = module_here(definition, workload, given=inputs)
    with torch.no_grad():
        got = _listed(module(*[_copy(value) for value in inputs]))
    for one, wanted in zip(got, expected, strict=True):
        torch.testing.assert_close(one, wanted, equal_nan=True)


@pytest.mark.parametrize(("definition", "workload"), CASES)
def test_followed_with_no_inputs_given(definition: Definition, workload: Workload) -> None:
    """A thousand times the rows: nothing is computed, nothing is too large."""
    axes = {axis: size * (2000 if axis == "t" and "scan" not in definition.name else 1)
            for axis, size in workload.axes.items()}  # fmt: skip
    graph = graph_here(definition, workload.model_copy(update={"axes": axes}))
    assert graph.opaque_share < 0.2
    assert graph.nodes
    assert graph.groups


def _copy(value: Any) -> Any:
    return value.clone() if isinstance(value, torch.Tensor) else value
