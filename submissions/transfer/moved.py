"""A candidate on its way to a target, and what its text says."""

import ast
import re
from dataclasses import dataclass
from functools import cached_property

from guard.compile_report import CompileReport
from guard.verdict import Environment
from submissions.facts import Target
from submissions.readiness import is_judged_on
from tasks.gpu import Gpu, load_gpu
from tasks.solution import BuildSpec, Language, SourceFile

_OWN = {Language.TRITON, Language.CUTE_DSL, Language.CUTILE, Language.CUTLASS, Language.CUDA_CPP}
_KERNEL = re.compile(r"\btriton\.jit\b|\bgluon\.jit\b|\b__global__\b")
_TEXT_OR_COMMENT = re.compile(r'("(?:\\.|[^"\\\n])*")|//[^\n]*|/\*.*?\*/', re.DOTALL)
_ASKS_DEVICE = re.compile(
    r"ComputeCapability|getCurrentDeviceProperties|getDeviceProperties|cudaGetDeviceProperties"
    r"|\bget_device_capability\b|\bget_device_properties\b|\bget_device_name\b"
)
_LIBRARY = re.compile(
    r"cublasLtMatmulAlgoGetHeuristic|\bcublasGemm\w*Ex\b|\bcublas[SDH]gemm"
    r"|\b(?:at::|torch\.|F\.|functional\.)(?:matmul|mm|bmm|addmm|baddbmm|linear|scaled_dot_product_attention)\b"
)


@dataclass(frozen=True)
class Moved:
    """`judged_on`: where its verdict was made. `reports`: how it compiles, for the target and for others."""

    spec: BuildSpec
    sources: tuple[SourceFile, ...]
    judged_on: Environment
    target: Target
    reports: tuple[CompileReport, ...] = ()

    @property
    def is_at_home(self) -> bool:
        """It was judged on the target itself."""
        return is_judged_on(self.target, self.judged_on)

    @property
    def origin(self) -> str:
        """Where its numbers come from, in words."""
        return self.judged_on.device if self.judged_on.kind == "cuda" else "no GPU that is recorded"

    @property
    def gpu(self) -> Gpu | None:
        """None for `LOCAL`, which is whichever GPU runs it."""
        return None if self.target == "LOCAL" else load_gpu(self.target)

    @cached_property
    def code(self) -> str:
        """All sources without comments and docstrings; texts stay, since inline PTX stands in them."""
        return "\n".join(_code(source) for source in self.sources)

    @property
    def has_own_kernels(self) -> bool:
        return not _OWN.isdisjoint(self.spec.languages) or bool(_KERNEL.search(self.code))

    @property
    def has_other_path(self) -> bool:
        """It asks which device it is on, and has a call of a library that chooses for itself."""
        return bool(_ASKS_DEVICE.search(self.code) and _LIBRARY.search(self.code))

    @property
    def flags(self) -> tuple[str, ...]:
        options = self.spec.compile_options if self.spec.is_cpp else None
        return (*options.cflags, *options.cuda_cflags, *options.ld_flags) if options else ()


def _code(source: SourceFile) -> str:
    if not source.path.endswith(".py"):
        return _TEXT_OR_COMMENT.sub(lambda found: found[1] or " ", source.content)
    try:
        tree = ast.parse(source.content)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return source.content  # what cannot be read is searched as it stands
    for node in ast.walk(tree):
        if isinstance(node, ast.Module | ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            node.body = [each for each in node.body if not _is_docstring(each)] or [ast.Pass()]
    return ast.unparse(tree)


def _is_docstring(node: ast.stmt) -> bool:
    return (
        isinstance(node, ast.Expr)
        and isinstance(node.value, ast.Constant)
        and isinstance(node.value.value, str)
    )
