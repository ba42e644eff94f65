"""A stable sort of small whole numbers whose occurrences are counted too: places by counting, in two launches.

A histogram with a given number of bins says in which range the numbers lie. Every chunk counts its own; then each adds
up what stands before it and places its numbers. A sort that need not be stable gets a stable one.
"""

from dataclasses import dataclass
from pathlib import Path

from agents.rewrite.program import Number, Op, Program, Ref, Typed
from agents.rewrite.rules.base import Rule, at_every
from agents.rewrite.rules.draft import Draft
from agents.rewrite.rules.views import CASTS, RESHAPES, argument, operand, uncast, uniform

_LONGEST = 1 << 18
"""Numbers; every chunk reads the counts of all others, which then costs more than the library's passes."""
_MOST_BINS = 1023
_SOURCE = (Path(__file__).parent / "counting_sort.txt").read_text()
_ZEROS = {"zeros", "zeros_like", "new_zeros"}


@dataclass(frozen=True)
class _Sort:
    values: str
    places: str | None
    """The result that says where each stood."""
    ordered: str | None
    """The result that holds the numbers in order."""


def apply(program: Program) -> Program | None:
    return at_every(program, _at)


def _at(program: Program, name: str) -> Program | None:
    found = _sort(program, program.ops[name])
    if found is None:
        return None
    typed = program.types[found.values]
    counts = next((op for op in program.ops.values() if _counts(program, op, found.values)), None)
    if counts is None or max(typed.elements) > _LONGEST:
        return None
    return _written(program, found, counts)


def _sort(program: Program, op: Op) -> _Sort | None:
    """None for anything but the whole of one dimension of whole numbers, the smallest first."""
    if op.base not in ("sort", "argsort") or not op.reads:
        return None
    typed = program.types[op.reads[0]]
    if len(typed.shape) != 1 or not typed.dtype.startswith(("int", "uint")):
        return None
    place = 3 if op.target.endswith(".stable") and op.base == "sort" else 2
    place = 3 if op.target == "argsort.stable" else place
    if argument(op, place, "descending", False) is not False:
        return None
    if op.base == "argsort":
        return _Sort(op.reads[0], op.name, None)
    parts = {int(o.args[1].constant): o.name for o in program.ops.values() if o.reads[:1] == (op.name,)}
    return _Sort(op.reads[0], parts.get(1), parts.get(0))


def _counts(program: Program, op: Op, values: str) -> bool:
    """Whether it counts how often each number occurs among `values`."""
    if op.target != "scatter_add.default" or len(program.types[op.name].shape) != 1:
        return False
    base, index, ones = (operand(op, place) for place in (0, 2, 3))
    bins = set(program.types[op.name].shape[0])
    is_counting = base is not None and _is_zero(program, base) and ones is not None and _is_one(program, ones)
    return is_counting and index is not None and len(bins) == 1 and bins.pop() <= _MOST_BINS and (
        _root(program, index) == _root(program, values)
    )  # fmt: skip


def _root(program: Program, name: str) -> str:
    """What the numbers were before they were cast or made one dimension."""
    while True:
        name = uncast(program, name)
        op = program.ops.get(name)
        if op is None or op.base not in RESHAPES or op.target == "view.dtype":
            return name
        name = op.reads[0]


def _is_zero(program: Program, name: str) -> bool:
    op = program.ops.get(name)
    return (op is not None and op.base in _ZEROS) or set(uniform(program, Ref(name)) or (1,)) == {0}


def _is_one(program: Program, name: str) -> bool:
    op = program.ops.get(name)
    return (op is not None and op.base in ("ones", "ones_like", "new_ones")) or (
        set(uniform(program, Ref(name)) or (0,)) == {1}
    )


def _written(program: Program, found: _Sort, counts: Op) -> Program:
    draft = Draft(program)
    bins = program.types[counts.name].shape[0]
    whole = program.types[found.values].shape
    order, order_type = _read_as(program, found.places)
    sums = next((op for op in program.ops.values() if _sums(op, counts.name)), None)
    ends = next((op for op in program.ops.values() if sums and _led_by_zero(program, op, sums.name)), None)
    ends_type = program.types[ends.name].dtype if ends else "int64"
    helper = f"_sorted_by_counting_{bins[0]}"
    args = (Ref(found.values), f"torch.{order_type}", f"torch.{ends_type}")
    call = draft.helper(helper, _SOURCE.replace("NAME", helper).replace("COUNT", str(bins[0])), args, None)
    more = tuple(size + 1 for size in bins)
    places = draft.part(call, 0, Typed(whole, order_type), "places")
    bounds = draft.part(call, 2, Typed((more,), ends_type), "bounds")
    names = {counts.name: draft.part(call, 1, program.types[counts.name], "occurrences")}
    names |= {order: places} if order else {}
    names |= {ends.name: bounds} if ends else {}
    if sums is not None:
        piece = (Ref(bounds), draft.number(0), draft.number(1), Number(bins))
        part = draft.op("sums", "narrow.default", piece, Typed((bins,), ends_type))
        names[sums.name] = draft.cast(part, program.types[sums.name].dtype)
    if found.ordered is not None:
        wanted = (Ref(found.values), draft.number(0), Ref(places))
        typed = program.types[found.ordered]
        names[found.ordered] = draft.op("ordered", "index_select.default", wanted, typed)
    return draft.done(names)


def _read_as(program: Program, places: str | None) -> tuple[str | None, str]:
    """What is to be replaced by the places, and its type: a cast of them where nothing else reads them."""
    readers = [op for op in program.ops.values() if places in op.reads]
    if len(readers) == 1 and places not in program.results and readers[0].base in CASTS:
        dtype = program.types[readers[0].name].dtype
        if dtype in ("int32", "int64"):
            return readers[0].name, dtype
    return places, "int64"


def _sums(op: Op, counts: str) -> bool:
    return op.base == "cumsum" and op.reads == (counts,)


def _led_by_zero(program: Program, op: Op, sums: str) -> bool:
    """Whether it is the sums after one zero."""
    if op.target == "slice_scatter.default":
        source = program.ops.get(op.args[1].name)
        inner = source.args[1].name if source is not None and source.base == "copy" else op.args[1].name
        start, step = argument(op, 3, "start"), argument(op, 5, "step")
        is_after_one = isinstance(start, Number) and start.constant == 1
        is_whole = program.types[op.args[1].name].shape[0][0] + 1 == program.types[op.name].shape[0][0]
        is_led = is_after_one and is_whole and not (isinstance(step, Number) and step.constant != 1)
        return is_led and _is_zero(program, op.args[0].name) and uncast(program, inner) == sums
    if op.base in ("pad", "constant_pad_nd"):
        sizes = [n.constant for n in op.args[1]]
        is_zero = len(op.args) == 2 or (isinstance(op.args[2], Number) and op.args[2].constant == 0)
        return sizes == [1, 0] and is_zero and not op.kwargs and uncast(program, op.args[0].name) == sums
    if op.base == "cat" and len(op.args[0]) == 2:
        first, second = (ref.name for ref in op.args[0])
        is_one = set(program.types[first].shape[0]) == {1}
        return is_one and _is_zero(program, first) and uncast(program, second) == sums
    return False


RULE = Rule("counting_sort", "exact", apply)
