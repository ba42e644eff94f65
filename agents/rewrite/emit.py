"""A plan as a module: Triton kernels, and `run` that launches them between the calls left to torch."""

from agents.rewrite.calls import called
from agents.rewrite.kernel import Kernel
from agents.rewrite.plan import Plan
from agents.rewrite.program import Number, Op, Program, product
from agents.rewrite.sizes import Sizes
from tasks.definition import Definition

_IMPORTS = """
import torch
import torch.nn.functional as F
"""
_IMPORTS_OF_KERNELS = "import triton\nimport triton.language as tl\n"

_TILE = '''
def _tile(rows, columns, whole_rows):
    """Rows and columns of a tile: about ELEMENTS values, but a thousand where the grid would be small."""
    wide = triton.next_power_of_2(columns)
    wide = wide if whole_rows else min(1024, wide)
    high = max(1, min(ELEMENTS // wide, triton.next_power_of_2(rows)))
    while high > 1 and high * wide > 1024 and triton.cdiv(rows, high) * triton.cdiv(columns, wide) < 64:
        high //= 2
    return high, wide


def _warps(values):
    """Sixteen values a thread, four warps at least where there is that much to do."""
    return max(1, min(16, values // 512))
'''


def module(plan: Plan, definition: Definition, opening: str, elements: int) -> str:
    """`elements`: how many values a program of the grid works out at least, where there are so many.

    Raises `NotExpressible` when a size is no simple expression of the axes.
    """
    program = plan.program
    taken = set(program.types) | set(program.ops) | set(program.inputs)
    emitter = _Emitter(program, Sizes(definition, program.followed, taken), elements, taken)
    kernels = [emitter.kernel(number, kernel) for number, kernel in enumerate(plan.kernels)]
    body = emitter.body(plan)
    lines = "\n".join(f"    {line}" for line in [*emitter.sizes.openings("\n".join(body)), *body])
    head = f"def run({', '.join(program.inputs)}):"
    parts = [*program.helpers.values(), *kernels, f"@torch.no_grad()\n{head}\n{lines}\n"]
    imports = _IMPORTS
    if any("@triton.jit" in part for part in parts):
        imports += _IMPORTS_OF_KERNELS
    if kernels:
        parts = [_TILE.replace("ELEMENTS", str(elements)).strip() + "\n", *parts]
    return f'"""{opening}"""\n{imports}\n\n' + "\n\n".join(parts)


class _Emitter:
    def __init__(self, program: Program, sizes: Sizes, elements: int, taken: set[str]) -> None:
        self.program, self.sizes, self.elements = program, sizes, elements
        self._names = tuple(
            name if name not in taken else f"{name}_tile" for name in ("block_columns", "block_rows")
        )
        self._tensor = next(name for name in program.inputs if name in program.types)

    def kernel(self, number: int, kernel: Kernel) -> str:
        """The source of one kernel."""
        leading = self._leading(kernel)
        parameters = [
            *(f"out_{root}" for root in kernel.roots), *kernel.tensors.values(), "rows", "columns",
            *kernel.numbers, *kernel.strides, "R: tl.constexpr", "C: tl.constexpr",
        ]  # fmt: skip
        wide = ".to(tl.int64)" if max(self._elements(kernel)) >= 2**31 else ""
        opening = [
            f"row = (tl.program_id(0) * R + tl.arange(0, R))[:, None]{wide}",
            "c = (tl.program_id(1) * C + tl.arange(0, C))[None, :]",
            "rows_in = row < rows",
            "columns_in = c < columns",
            *leading,
        ]
        body = "\n".join(f"    {line}" for line in [*opening, *kernel.lines])
        return f"@triton.jit\ndef _kernel_{number}({', '.join(parameters)}):\n{body}\n"

    def _leading(self, kernel: Kernel) -> list[str]:
        """The indices that the row number stands for, those that are used."""
        lines, text = [], "\n".join(kernel.lines)
        for place in range(len(kernel.domain) - 1):
            if f"i{place}" not in text or set(kernel.domain[place]) == {1}:
                continue
            after = product(kernel.domain[place + 1 : -1], self.program.workloads)
            divided = "row" if set(after) == {1} else f"row // {kernel.size(after)}"
            before = product(kernel.domain[:place], self.program.workloads)
            whole = divided if set(before) == {1} else f"({divided}) % {kernel.size(kernel.domain[place])}"
            lines.append(f"i{place} = {whole}")
        return lines

    def body(self, plan: Plan) -> list[str]:
        lines = [
            f"{name} = {name}.contiguous()"
            for name in self.program.inputs
            if any(name in kernel.tensors for kernel in plan.kernels)
        ]
        number = 0
        for step in plan.steps:
            if isinstance(step, Op):
                lines.append(f"{step.name} = {called(step, self.sizes.text, f'{self._tensor}.device')}")
            else:
                lines += self._launch(number, step)
                number += 1
        lines = [*self._constants(plan, lines), *lines]
        results = ", ".join(self.program.results)
        return [*lines, f"return {results}"]

    def _constants(self, plan: Plan, lines: list[str]) -> list[str]:
        text = "\n".join(lines)
        return [
            f"{name} = torch.tensor({value!r}, dtype=torch.{self.program.types[name].dtype}, device={self._tensor}.device)"
            for name, value in self.program.constants.items()
            if name in text
        ]

    def _launch(self, number: int, kernel: Kernel) -> list[str]:
        lines = [f"{root} = {self._empty(root)}" for root in kernel.roots]
        rows = self.sizes.text(product(kernel.domain[:-1], self.program.workloads))
        columns = self.sizes.text(kernel.domain[-1])
        c, r = self._names
        lines.append(f"{r}, {c} = _tile({rows}, {columns}, {kernel.has_rows})")
        grid = f"(triton.cdiv({rows}, {r}), triton.cdiv({columns}, {c}))"
        arguments = [
            *kernel.roots, *kernel.tensors, rows, columns,
            *(self.sizes.text(vector) for vector in kernel.numbers.values()),
            *(f"{name}.stride({place})" for name, place in kernel.strides.values()),
        ]  # fmt: skip
        lines.append(f"_kernel_{number}[{grid}](")
        lines.append(f"    {', '.join(arguments)}, R={r}, C={c}, num_warps=_warps({r} * {c})")
        lines.append(")")
        return lines

    def _empty(self, root: str) -> str:
        typed = self.program.types[root]
        sizes = ", ".join(self.sizes.text(Number(size)) for size in typed.shape)
        shape = f"({sizes},)" if len(typed.shape) == 1 else f"({sizes})"
        return f"torch.empty({shape}, dtype=torch.{typed.dtype}, device={self._tensor}.device)"

    def _elements(self, kernel: Kernel) -> tuple[int, ...]:
        sizes = [product(kernel.domain, self.program.workloads)]
        sizes += [self.program.types[name].elements for name in kernel.tensors]
        return tuple(max(found) for found in sizes)
