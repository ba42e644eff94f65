"""Products that a mask makes needless, as far as a graph shows."""

from __future__ import annotations

from tasks.graph.model import Graph, Node, Tensor

_COMPARISONS = ("lt", "le", "gt", "ge", "eq", "ne")
_TRIANGLES = ("tril", "triu")


def is_square_mask(name: str, shape: tuple[int, ...]) -> bool:
    """Whether an input can be a causal mask: the official generator makes most square masks causal."""
    return "mask" in name.lower() and len(shape) >= 2 and shape[-1] == shape[-2] > 1


class Masks:
    """The sides of the square masks in a graph, and how much of a product over such a square is needed."""

    def __init__(self, graph: Graph) -> None:
        self._causal = {t.shape[-1] for t in graph.inputs if is_square_mask(t.name, t.shape)}
        self._computed: dict[int, int] = {}
        for node in graph.nodes:
            made = _square_condition(node)
            if made:
                self._computed[made] = self._computed.get(made, 0) + 1
        self._shapes = {
            t.name: t.shape for t in (*graph.inputs, *(o for n in graph.nodes for o in n.outputs))
        }

    def needed(self, node: Node) -> float:
        """The share, in [0, 1], of the node's product that no mask makes needless.

        A triangle where there is one square mask; nothing where several conditions meet, since a window may
        leave any share.
        """
        for side in self._sides(node):
            conditions = self._computed.get(side, 0) + (side in self._causal)
            if conditions > 1 and self._computed.get(side):
                return 0.0
            if conditions:
                return (side + 1) / (2 * side)
        return 1.0

    def _sides(self, node: Node) -> set[int]:
        shapes = [self._shapes.get(name, ()) for name in node.inputs] + [t.shape for t in node.outputs]
        return {shape[-1] for shape in shapes if len(shape) >= 2 and shape[-1] == shape[-2] > 1}


def _square_condition(node: Node) -> int | None:
    """The side of a square of conditions or of a triangle that the node makes."""
    name = node.operation.split(".")[1] if "." in node.operation else node.operation
    is_condition = name in _COMPARISONS or name.removesuffix("_") in _TRIANGLES
    made: tuple[Tensor, ...] = node.outputs if is_condition else ()
    return next((t.shape[-1] for t in made if len(t.shape) >= 2 and t.shape[-1] == t.shape[-2] > 1), None)
