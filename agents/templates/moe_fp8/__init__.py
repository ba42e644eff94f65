"""A rank's share of an fp8 expert layer with group-limited routing: route, sort, two products, collect."""

from agents.templates.moe_fp8.family import MoeFp8Family
from agents.templates.moe_fp8.form import MoeFp8

__all__ = ["MoeFp8", "MoeFp8Family"]
