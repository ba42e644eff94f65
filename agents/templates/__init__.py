"""Families of kernels by name; add one by a folder and a line here."""

from agents.templates.base import Family
from agents.templates.gemm import GemmFamily
from agents.templates.row_norm import RowNormFamily

FAMILIES: dict[str, Family] = {family.name: family for family in (GemmFamily(), RowNormFamily())}

__all__ = ["FAMILIES", "Family"]
