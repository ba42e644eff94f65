"""Families of kernels by name; add one by a folder and a line here."""

from agents.templates.base import Family
from agents.templates.decoder import DecoderFamily
from agents.templates.gemm import GemmFamily
from agents.templates.hopper_gemm import HopperGemmFamily
from agents.templates.moe_backward import MoeBackwardFamily
from agents.templates.moe_fp8 import MoeFp8Family
from agents.templates.nvfp4_gqa import Nvfp4GqaFamily
from agents.templates.paged_decode import PagedDecodeFamily
from agents.templates.paged_prefill import PagedPrefillFamily
from agents.templates.rope import RopeFamily
from agents.templates.row_norm import RowNormFamily
from agents.templates.rows_backward import RowsBackwardFamily
from agents.templates.swiglu import GatedFamily

FAMILIES: dict[str, Family] = {
    family.name: family
    for family in (
        GemmFamily(),
        RowNormFamily(),
        GatedFamily(),
        RopeFamily(),
        RowsBackwardFamily(),
        MoeBackwardFamily(),
        DecoderFamily(),
        MoeFp8Family(),
        PagedPrefillFamily(),
        PagedDecodeFamily(),
        Nvfp4GqaFamily(),
    )
}
EVERY_FAMILY: dict[str, Family] = {**FAMILIES, **{family.name: family for family in (HopperGemmFamily(),)}}
"""Those in C++ as well, which no machine without a GPU can judge: agents do not ask them."""

__all__ = ["EVERY_FAMILY", "FAMILIES", "Family"]
