"""What a product of two matrices computes, and what becomes of each element before it is stored."""

from dataclasses import dataclass

Shape = tuple[int, int, int]
"""Rows, columns and the length that is summed over."""


@dataclass(frozen=True)
class Product:
    """`rows @ weight`, or `rows @ weight.T` where the weight keeps a row an output column."""

    weight: str
    transposed: bool


@dataclass(frozen=True)
class Gemm:
    """One or two products of the same rows; sums are fp32, `steps` round where the reference does."""

    inputs: tuple[str, ...]
    """All inputs of the definition, in calling order."""
    rows: str
    """The input whose last dimension is summed over; the others are its rows."""
    products: tuple[Product, ...]
    element: str
    """Type of all operands."""
    steps: tuple[str, ...]
    """Triton statements on `product_0`, `product_1`, the tiles and the vectors, all fp32."""
    result: str
    """The expression that is stored."""
    tiles: tuple[str, ...]
    """Inputs of the output's shape."""
    vectors: tuple[str, ...]
    """Inputs with one value a column."""
    scalars: tuple[str, ...]
    output: str
    shapes: tuple[Shape, ...]
    """Those of the workloads, each once."""
