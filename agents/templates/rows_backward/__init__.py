"""The backward pass of RMSNorm: the gradient of rows, and of the gain in two fixed stages."""

from agents.templates.rows_backward.family import RowsBackwardFamily
from agents.templates.rows_backward.form import RowsBackward

__all__ = ["RowsBackward", "RowsBackwardFamily"]
