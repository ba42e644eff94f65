"""What a candidate is made of, read from its code and not from what its proposer says of it."""

import ast
import re
from collections.abc import Iterable, Iterator
from functools import lru_cache
from typing import Literal

from tasks.candidate import Candidate
from tasks.value import Value

Part = Literal["dsl", "family", "layout", "precision"]
PARTS: tuple[Part, ...] = ("dsl", "family", "layout", "precision")


class Descriptor(Value):
    """Four coarse features; two candidates with the same four are variants of one design.

    Numbers (tile sizes, warps, stages) are no part of it: turning them is tuning, not another design.
    """

    dsl: str
    """What it is written in: `triton`, `cuda`, `compile`, `torch`, or a library's own language."""
    family: str
    """How it computes: the operations that make an algorithm, in alphabetical order."""
    layout: str
    """How it walks memory and arranges tensors."""
    precision: str
    """The element types named in its arithmetic."""

    def differs_in(self, other: "Descriptor") -> tuple[Part, ...]:
        return tuple(part for part in PARTS if getattr(self, part) != getattr(other, part))

    def __str__(self) -> str:
        return ", ".join(f"{part} {getattr(self, part)}" for part in PARTS)


_DSLS = (
    ("cute_dsl", ("cutlass.cute", "cute")),
    ("cutile", ("cuda.tile", "cutile")),
    ("triton", ("triton", "tl", "gluon")),
    ("cudnn", ("cudnn",)),
    ("flashinfer", ("flashinfer",)),
)
"""By the modules whose names are used; the first that fits."""

_FAMILY = {
    "attention": ("scaled_dot_product_attention", "flex_attention", "flash_attn_func"),
    "atomics": ("atomic_add", "atomic_max", "atomic_cas", "atomicAdd", "index_add_", "scatter_add_"),
    "dot": ("dot", "dot_scaled", "wgmma", "tcgen05", "mma_sync", "mma", "matmul", "mm", "bmm", "addmm", "baddbmm",
            "linear", "einsum", "_scaled_mm", "scaled_mm", "grouped_mm", "_grouped_mm"),
    "epilogue": ("addmm", "baddbmm", "addmv"),
    "exp": ("softmax", "exp", "exp2", "log_softmax", "__expf"),
    "graph": ("CUDAGraph", "make_graphed_callables"),
    "norm": ("rms_norm", "layer_norm", "rsqrt", "group_norm"),
    "persistent": ("num_programs", "gridDim"),
    "reduction": ("sum", "max", "reduce", "mean", "amax", "__shfl_down_sync", "__shfl_xor_sync"),
    "scan": ("associative_scan", "cumsum", "cumprod"),
    "sort": ("sort", "argsort", "topk", "bincount"),
    "specialised": ("warp_specialize", "async_tasks", "setmaxnreg"),
}  # fmt: skip
_LAYOUT = {
    "blocks": ("make_block_ptr", "advance"),
    "descriptors": ("make_tensor_descriptor", "TensorDescriptor", "cp_async_bulk", "tma"),
    "contiguous": ("contiguous",),
    "gathered": ("index_select", "gather", "take_along_dim", "take"),
    "merged": ("cat", "stack", "concat", "hstack", "vstack"),
    "swizzled": ("swizzle2d", "swizzle", "ldmatrix"),
    "transposed": ("t", "transpose", "permute", "movedim", "trans", "T", "mT"),
}
_PRECISION = {
    "fp4": ("float4_e2m1fn_x2", "e2m1", "__nv_fp4_e2m1", "nvfp4"),
    "fp8": ("float8_e4m3fn", "float8_e5m2", "float8e4nv", "float8e5", "__nv_fp8_e4m3", "e4m3", "e5m2"),
    "fp16": ("float16", "half", "__half", "__half2"),
    "bf16": ("bfloat16", "__nv_bfloat16", "__nv_bfloat162"),
    "tf32": ("allow_tf32", "tf32", "tf32x3", "allow_fp16_accumulation"),
    "fp32": ("float32", "float"),
    "fp64": ("float64", "double"),
}
_WORD = re.compile(r"[A-Za-z_]\w*")
_COMMENT_OR_TEXT = re.compile(r'//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"', re.DOTALL)


def describe(candidate: Candidate) -> Descriptor:
    """The same code gives the same descriptor, whatever its comments, names of its own and strategy say."""
    words: set[str] = set()
    for source in candidate.solution.sources:
        words |= _words(source.path, source.content)
    return Descriptor(
        dsl=_dsl(words, any(source.path.endswith(_NATIVE) for source in candidate.solution.sources)),
        family=_named(_FAMILY, words) or "elementwise",
        layout=_named(_LAYOUT, words) or "plain",
        precision=_named(_PRECISION, words) or "declared",
    )


def words_of(source: str) -> frozenset[str]:
    """What a Python source calls and reaches into."""
    return _words("main.py", source)


_NATIVE = (".cu", ".cuh", ".cpp", ".cc", ".cxx")


def _dsl(words: set[str], is_native: bool) -> str:
    if is_native or "load_inline" in words:
        return "cuda"
    for name, modules in _DSLS:
        if any(f"module {module}" in words for module in modules):
            return name
    return "compile" if "torch.compile" in words else "torch"


def _named(table: dict[str, tuple[str, ...]], words: set[str]) -> str:
    return "+".join(sorted(name for name, signs in table.items() if not words.isdisjoint(signs)))


@lru_cache(maxsize=256)
def _words(path: str, content: str) -> frozenset[str]:
    if not path.endswith(".py"):
        return frozenset(_WORD.findall(_COMMENT_OR_TEXT.sub(" ", content)))
    try:
        return frozenset(_python_words(ast.walk(ast.parse(content))))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return frozenset()


def _python_words(nodes: Iterable[ast.AST]) -> Iterator[str]:
    """Names that are called or reached into; names that are only bound, comments and texts say nothing.

    `@` is a matrix product by any name. Modules count where something in them is used.
    """
    for node in nodes:
        if isinstance(node, ast.Attribute):
            yield node.attr
            if isinstance(node.value, ast.Name):
                yield f"module {node.value.id}"
                yield f"{node.value.id}.{node.attr}"
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
            yield node.func.id
        elif isinstance(node, ast.BinOp) and isinstance(node.op, ast.MatMult):
            yield "matmul"
        elif isinstance(node, ast.keyword) and node.arg:
            yield node.arg
