"""Row-wise norms: RMSNorm and LayerNorm over the last dimension, with or without an addition before."""

from agents.templates.row_norm.family import RowNormFamily
from agents.templates.row_norm.form import RowNorm

__all__ = ["RowNorm", "RowNormFamily"]
