"""Element types of definitions as torch knows them; torch is imported on first use."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tasks.definition import DType
from tasks.errors import TaskError

if TYPE_CHECKING:
    import torch

FP4 = (DType.FLOAT4_E2M1, DType.FLOAT4_E2M1FN_X2)
FP8 = (DType.FLOAT8_E4M3FN, DType.FLOAT8_E5M2)
INTEGERS = (DType.INT64, DType.INT32, DType.INT16, DType.INT8)

_TORCH_NAMES = {DType.FLOAT4_E2M1: "float4_e2m1fn_x2"}
"""Where torch's name differs; as officially, both fp4 names mean two values packed into a byte."""


def torch_dtype(dtype: DType) -> torch.dtype:
    """torch's own type; `TaskError` when this torch is too old to have it."""
    import torch

    found = getattr(torch, _TORCH_NAMES.get(dtype, dtype.value), None)
    if not isinstance(found, torch.dtype):
        raise TaskError(f"torch {torch.__version__} has no {dtype.value}", mend="use torch 2.8 or later")
    return found
