"""The rows: a task, the peer as plain torch code, our family, and what the bar asks."""

from dataclasses import dataclass


def _product(rows: str, weight: str) -> str:
    return f"""import torch


@torch.no_grad()
def run({rows}, {weight}):
    return torch.matmul({rows}, {weight}.T)
"""


def _product_and_sum(rows: str, added: str, weight: str) -> str:
    return f"""import torch


@torch.no_grad()
def run({rows}, {added}, {weight}):
    flat = torch.addmm({added}.view(-1, {added}.shape[-1]), {rows}.view(-1, {rows}.shape[-1]), {weight}.T)
    return flat.view({added}.shape)
"""


@dataclass(frozen=True)
class Row:
    task: str
    peer: str
    """A solution's source: `run` returns the outputs."""
    family: str
    bar: str
    """What is asked, in words."""
    places: tuple[int, ...] = ()
    """Of the workloads; all where there are none."""
    most_ratio: float | None = None
    """Geometric mean over the workloads of our time over the peer's."""
    most_us: float | None = None
    """Of every workload."""


_GEMM = _product("activations", "weight")
_PROJECTION = _product_and_sum("heads", "stream", "mix_weight")
_OFFICIAL_PROJECTION = _product_and_sum("attn_output", "residual", "o_proj_weight")
ROWS: dict[str, Row] = {
    "gemm_4096": Row("l1_bf16_gemm", _GEMM, "gemm", "no slower than cuBLAS", (0,), most_ratio=1.0),
    "gemm_2048": Row("l1_bf16_gemm", _GEMM, "gemm", "within 2 % of cuBLAS", (1,), most_ratio=1.02),
    "gemm_8192": Row("l1_bf16_gemm", _GEMM, "gemm", "within 2 % of cuBLAS", (2,), most_ratio=1.02),
    "gemm_few_n5120": Row(
        "l1_bf16_gemm", _GEMM, "gemm", "1.25 times cuBLAS, at most 7.7 us", tuple(range(4, 10)),
        most_ratio=1 / 1.25, most_us=7.7,
    ),
    "gemm_few_n28672": Row(
        "l1_bf16_gemm", _GEMM, "gemm", "at most 63 us", tuple(range(10, 16)), most_us=63.0,
    ),
    "gemm_few_n5120_fp16": Row(
        "FlashInfer-Bench/009_gemm_n5120_k2048", _product("A", "B"), "gemm", "1.25 times cuBLAS, at most 7.7 us",
        (1, 13, 17, 5, 20, 9), most_ratio=1 / 1.25, most_us=7.7,
    ),
    "projection_residual": Row(
        "l1_attention_projection_residual", _PROJECTION, "gemm", "1.10 times addmm", most_ratio=1 / 1.1
    ),
    "l1_030": Row(
        "L1/030_attention_output_projection_with_residual", _OFFICIAL_PROJECTION, "gemm", "1.10 times addmm",
        most_ratio=1 / 1.1,
    ),
}  # fmt: skip
