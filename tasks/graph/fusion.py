"""Fusion groups: which operations can live in one kernel, found in one pass over the steps."""

from __future__ import annotations

from collections.abc import Sequence

from tasks.graph.model import Group, Tensor
from tasks.graph.steps import Step


def fuse(steps: Sequence[Step], inputs: Sequence[Tensor], results: Sequence[str]) -> tuple[Group, ...]:
    return ()
