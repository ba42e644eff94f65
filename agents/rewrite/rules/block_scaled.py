"""fp32 products of eight-bit operands with a scale a block: one Triton kernel that widens and scales in registers.

The faithful rule multiplies in fp16, in which the operands are exact, as their products are in fp32; each block's sum is
scaled in fp32. The other multiplies in the eight-bit type, whose tensor cores keep fewer bits of a sum within a block.
"""

from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from agents.rewrite.places import Blocked, Place, Strided, behind_views, blocked, matrix, of_operand, strided
from agents.rewrite.program import Number, Op, Program, Ref
from agents.rewrite.rules.base import Rule, at_every
from agents.rewrite.rules.draft import Draft
from agents.rewrite.rules.views import CASTS
from agents.rewrite.views import is_view

_EIGHT_BITS = ("float8_e4m3fn", "float8_e5m2", "int8")
_HELPER = (Path(__file__).parent / "block_scaled.txt").read_text()
_LEAST_BLOCK = 32
_PRODUCTS = ("matmul", "mm", "linear")


@dataclass(frozen=True)
class _Side:
    """Eight-bit values at `strides` in `name`, times what `scale` has at `blocks`."""

    name: str
    strides: Strided
    scale: str
    blocks: Blocked


@dataclass(frozen=True)
class _End:
    """What the product is made into at once: an added row, and a narrower type."""

    name: str
    bias: str | None
    dtype: str


def in_fp16(program: Program) -> Program | None:
    return at_every(program, partial(_at, native=False))


def in_fp8(program: Program) -> Program | None:
    return at_every(program, partial(_at, native=True))


def _at(program: Program, name: str, native: bool) -> Program | None:
    op = program.ops[name]
    if op.base not in _PRODUCTS or program.types[name].dtype != "float32" or len(op.args) > 2:
        return None
    first, second = (ref.name for ref in op.args[:2])
    if len(program.types[second].shape) != 2 or len(program.types[first].shape) < 2:
        return None
    left = _side(program, matrix(program, first, False))
    right = _side(program, matrix(program, second, op.base != "linear"))
    if left is None or right is None or not _is_gain(program, left, right, native):
        return None
    return _written(program, op, (left, right), native)


def _is_gain(program: Program, left: _Side, right: _Side, native: bool) -> bool:
    """Blocks as tiles want them; the narrow type multiplies one kind alone."""
    types = {program.types[side.name].dtype for side in (left, right)}
    blocks = [side.blocks.columns for side in (left, right) if side.blocks.columns is not None]
    fits = all(block >= _LEAST_BLOCK and block & (block - 1) == 0 for block in blocks)
    return fits and (not native or types == {"float8_e4m3fn"})


def _side(program: Program, place: Place) -> _Side | None:
    """None for anything but widened values times a scale."""
    place = behind_views(program, place)
    op = program.ops.get(place.name)
    if op is None or op.base != "mul" or len(op.reads) != 2:
        return None
    for one, other in ((0, 1), (1, 0)):
        names = (op.args[one].name, op.args[other].name)
        values = _widened(program, of_operand(program, place, op, names[0]))
        if values is None:
            continue
        scale = of_operand(program, place, op, names[1])
        strides, blocks = strided(program, values), blocked(program, scale)
        if strides is not None and blocks is not None and program.types[scale.name].dtype == "float32":
            return _Side(values.name, strides, scale.name, blocks)
    return None


def _widened(program: Program, place: Place) -> Place | None:
    """The eight-bit values before they were made fp32."""
    while (op := program.ops.get(place.name)) is not None:
        if program.types[place.name].dtype in _EIGHT_BITS and not is_view(program, op):
            return place
        if op.base not in CASTS or op.target == "view.dtype":
            return None
        place = behind_views(program, replace(place, name=op.reads[0]))
    return place if program.types[place.name].dtype in _EIGHT_BITS else None


def _written(program: Program, op: Op, sides: tuple[_Side, _Side], native: bool) -> Program:
    draft, end = Draft(program), _end(program, op)
    typed = replace(program.types[end.name], dtype=end.dtype)
    inner = program.types[op.args[0].name].shape[-1]
    steps = tuple(
        Number(vector)
        for side in sides
        for vector in (side.strides.row, side.strides.column, side.blocks.row, side.blocks.column)
    )
    blocks = tuple(draft.number(n or 0) for s in sides for n in (s.blocks.rows, s.blocks.columns))
    tensors = [Ref(name) for side in sides for name in (side.name, side.scale)]
    args = (
        *tensors, Ref(end.bias) if end.bias else None, tuple(map(Number, typed.shape)), Number(inner), steps, blocks,
        f"torch.{end.dtype}",
    )  # fmt: skip
    name = "_fp8_block_scaled_product" if native else "_block_scaled_product"
    source = _HELPER.replace("NAME", name).replace("NATIVE", str(native))
    return draft.done({end.name: draft.helper(name, source, args, typed)})


def _end(program: Program, op: Op) -> _End:
    """The product itself, or the sum with a row, or a cast of either that nothing else needs wider."""
    name, bias = op.name, None
    added = _only_reader(program, name)
    if added is not None and added.target == "add.Tensor" and len(added.args) == 2 and not added.kwargs:
        other = next((read for read in added.reads if read != name), None)
        whole = program.types[name].shape
        if (
            other is not None
            and program.types[other].shape == whole[-1:]
            and program.types[added.name].shape == whole
        ):
            name, bias = added.name, other
    cast = _only_reader(program, name)
    if cast is not None and cast.base in CASTS and program.types[cast.name].dtype in ("bfloat16", "float16"):
        return _End(cast.name, bias, program.types[cast.name].dtype)
    return _End(name, bias, "float32")


def _only_reader(program: Program, name: str) -> Op | None:
    readers = [op for op in program.ops.values() if name in op.reads]
    return readers[0] if len(readers) == 1 and name not in program.results else None


RULE = Rule("block_scaled_product", "reassociated", in_fp16)
NATIVE = Rule("fp8_block_scaled_product", "lower-precision", in_fp8)
