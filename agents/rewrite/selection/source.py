"""A region as a function of the emitted module: one kernel, and what allocates its results and launches it."""

from agents.rewrite.calls import called
from agents.rewrite.program import Number, Program
from agents.rewrite.selection.region import Region
from agents.rewrite.selection.rounds import HELPERS
from agents.rewrite.selection.tile import Tile

_VALUES_A_WARP = 256
"""Of the widest tile; rows share a warp up to that many."""
_MOST_WARPS = 8
_INTERPRETED = 256
"""Rows that Triton's interpreter does about as quickly as one."""


def selection_source(program: Program, region: Region, name: str) -> str:
    """Functions `name` (tensors, sizes of results, numbers), its kernel, and where needed what a CPU calls instead."""
    parts = [HELPERS.strip(), _kernel(program, region, name), _wrapper(program, region, name)]
    if region.body.depends_on_order:
        parts.insert(1, _plain(program, region, name))
    return "\n\n\n".join(parts) + "\n"


def plain_numbers(program: Program, region: Region) -> tuple[Number, ...]:
    """Numbers that differ from workload to workload and that only the library's calls need."""
    found: dict[Number, None] = {}
    if region.body.depends_on_order:
        for name in region.members:
            _ = called(program.ops[name], lambda number: _noted(number, found), "cpu")
    return tuple(found)


def _noted(number: Number, found: dict[Number, None]) -> str:
    if number.constant is not None:
        return repr(number.constant)
    found.setdefault(number)
    return f"size_{list(found).index(number)}"


def _kernel(program: Program, region: Region, name: str) -> str:
    body = region.body
    parameters = [
        *(f"out_{output}" for output in region.outputs), *body.tensors.values(), "rows", *body.numbers,
        "R: tl.constexpr",
    ]  # fmt: skip
    tensors = [*body.tensors, *region.outputs]
    wide = ".to(tl.int64)" if max(max(program.types[n].elements) for n in tensors) >= 2**31 else ""
    lines = [
        f"row = (tl.program_id(0) * R + tl.arange(0, R))[:, None]{wide}",
        "rows_in = row < rows",
        *(f"c{width} = tl.arange(0, {width})[None, :]" for width in sorted(body.widths)),
        *body.lines,
    ]
    text = "\n".join(f"    {line}" for line in lines)
    return f"@triton.jit\ndef {name}_kernel({', '.join(parameters)}):\n{text}"


def _wrapper(program: Program, region: Region, name: str) -> str:
    body = region.body
    by_row = next(n for n in body.tensors if body.flat(n).lead)
    sizes = [f"size_{place}" for place in range(len(plain_numbers(program, region)))]
    shapes = [f"shape_{output}" for output in region.outputs]
    given = [*region.inputs, *shapes, *body.numbers, *sizes]
    lines = [f'"""A row of {body.flat(by_row).width} values each: what is chosen of it, in one launch."""']
    if body.depends_on_order:
        lines += [
            f"if not {by_row}.is_cuda:  # in which order the library leaves what it does not sort, a CPU alone knows",
            f"    return {name}_plainly({', '.join([*region.inputs, *sizes])})",
        ]
    lines += [f"{tensor} = {tensor}.contiguous()" for tensor in body.tensors]
    lines += [
        f"{output} = torch.empty({shape}, dtype=torch.{program.types[output].dtype}, device={by_row}.device)"
        for output, shape in zip(region.outputs, shapes, strict=True)
    ]
    each, warps = _form(body)
    arguments = [*region.outputs, *body.tensors, "rows", *body.numbers]
    lines += [
        f"rows = {by_row}.numel() // {body.flat(by_row).width}",
        f"each = {each} if {by_row}.is_cuda else {_INTERPRETED}",
        f"{name}_kernel[(triton.cdiv(rows, each),)]({', '.join(arguments)}, R=each, num_warps={warps})",
        f"return {', '.join(region.outputs)}",
    ]
    text = "\n".join(f"    {line}" for line in lines)
    return f"def {name}({', '.join(given)}):\n{text}"


def _plain(program: Program, region: Region, name: str) -> str:
    numbers: dict[Number, None] = {}
    first = next(n for n in region.inputs if n in program.types)
    lines = [
        f"{n} = {called(program.ops[n], lambda number: _noted(number, numbers), f'{first}.device')}"
        for n in region.members
    ]
    sizes = [f"size_{place}" for place in range(len(numbers))]
    lines.append(f"return {', '.join(region.outputs)}")
    text = "\n".join(f"    {line}" for line in lines)
    return f"def {name}_plainly({', '.join([*region.inputs, *sizes])}):\n{text}"


def _form(body: Tile) -> tuple[int, int]:
    """Rows a program, and warps: one where columns are moved, which Triton compiles for rows of one warp alone."""
    rows = max(1, _VALUES_A_WARP // body.widest)
    return rows, 1 if body.moves_columns else max(1, min(_MOST_WARPS, rows * body.widest // _VALUES_A_WARP))
