"""The family of CUDA C++ matrix products for Hopper."""

from pathlib import Path

from agents.cuda_proposal import CudaProposal
from agents.templates.base import Knobs, KnobSpace
from agents.templates.gemm.form import Gemm
from agents.templates.gemm.plan import FEW
from agents.templates.gemm.recognise import recognise
from agents.templates.hopper_gemm.knobs import FEW_KNOBS, MANY_KNOBS, hopper_knobs
from agents.templates.source import rendered
from tasks.task import Task

_FOLDER = Path(__file__).parent
_SOURCES = ("binding.cpp", "kernel.cu", "few.cu")
_TYPES = {
    "bfloat16": {
        "header": "cuda_bf16.h", "element": "__nv_bfloat16", "pair": "__nv_bfloat162", "ptx_type": "bf16",
        "map_type": "CU_TENSOR_MAP_DATA_TYPE_BFLOAT16", "narrow": "__float2bfloat16", "widen": "__bfloat162float",
    },
    "float16": {
        "header": "cuda_fp16.h", "element": "__half", "pair": "__half2", "ptx_type": "f16",
        "map_type": "CU_TENSOR_MAP_DATA_TYPE_FLOAT16", "narrow": "__float2half", "widen": "__half2float",
    },
}  # fmt: skip


class HopperGemmFamily:
    name = "hopper_gemm"
    numerics = (
        "Products and sums are fp32 on tensor cores, rounded once to the operands' type; a residual is added after "
        "that rounding and rounded again, as the reference does. Other devices, and matrices that tensor memory "
        "access cannot read, take the library's product."
    )

    def matches(self, task: Task) -> Gemm | None:
        """One product with a weight that keeps a row an output column; at most a residual after it."""
        gemm = recognise(task)
        if gemm is None or not _is_plain(gemm) or not _can_be_read(gemm):
            return None
        return gemm if task.definition.outputs[gemm.output].dtype.value == gemm.element else None

    def knobs(self, match: Gemm) -> KnobSpace:
        return hopper_knobs(match)

    def render(self, match: Gemm, knobs: Knobs) -> CudaProposal:
        residual = match.tiles[0] if match.tiles else None
        given = {**knobs, **_TYPES[match.element], "residual": residual, "few": FEW}
        names = {
            "inputs": match.inputs,
            "output": match.output,
            "rows": match.rows,
            "weight": match.products[0].weight,
        }
        sources = {name: rendered(_FOLDER / f"{name}.j2", **{**given, **names}) for name in _SOURCES}
        turned = FEW_KNOBS if knobs["rows"] == "few" else MANY_KNOBS
        words = ", ".join(f"{name} {knobs[name]}" for name in turned)
        return CudaProposal(
            strategy=f"CUDA matrix product{' with a residual' if residual else ''}, {knobs['rows']} rows: {words}",
            source=sources["binding.cpp"],
            files=(
                ("kernel.cu", sources["kernel.cu"]),
                ("few.cu", sources["few.cu"]),
                ("kernel.h", (_FOLDER / "kernel.h").read_text()),
            ),
        )


def _is_plain(gemm: Gemm) -> bool:
    if len(gemm.products) != 1 or not gemm.products[0].transposed or gemm.vectors or gemm.scalars:
        return False
    rounding = f".to(tl.{gemm.element}).to(tl.float32)"
    product = f"step_0 = (product_0){rounding}"
    if not gemm.tiles:
        return gemm.steps == (product,)
    (tile, *others) = gemm.tiles
    sums = [f"step_1 = ({pair}){rounding}" for pair in (f"in_{tile} + step_0", f"step_0 + in_{tile}")]
    return not others and gemm.steps in [(product, sum_) for sum_ in sums]


def _can_be_read(gemm: Gemm) -> bool:
    """Rows of 16 bytes and multiples of it."""
    return all(n % 8 == 0 and k % 8 == 0 for _, n, k in gemm.shapes)
