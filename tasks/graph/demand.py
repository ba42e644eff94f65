"""Which bytes of each input the results depend on: the graph walked backwards from its outputs."""

from __future__ import annotations

from collections.abc import Sequence

from tasks.graph.model import Tensor
from tasks.graph.steps import Step


def demanded(steps: Sequence[Step], inputs: Sequence[Tensor], results: Sequence[str]) -> dict[str, int]:
    """Bytes by input name; an input that nothing depends on is 0."""
    wanted = set(results)
    for step in reversed(steps):
        if any(made.name in wanted or made.root in wanted for made in step.outputs):
            wanted.update(step.roots)
            wanted.update(step.operands)
            if step.mutates:
                wanted.add(step.mutates)
    return {tensor.name: tensor.bytes if tensor.name in wanted else 0 for tensor in inputs}
