"""What the rules look through: casts, turned dimensions, leading dimensions grouped otherwise, and uniform values."""

from agents.rewrite.program import Number, Op, Program, Ref, Vector, product

CASTS = {"to", "_to_copy", "contiguous", "clone", "detach", "alias", "type_as"}
RESHAPES = {"view", "reshape", "_unsafe_view", "flatten", "unflatten"}
_TURNS = {"transpose", "t", "numpy_T", "permute", "swapaxes", "mT"}
_FILLED = {"full": 1, "full_like": 1, "new_full": 2, "scalar_tensor": 0}


def operand(op: Op, place: int = 0) -> str | None:
    """The name of the argument at `place`, when it is a value."""
    argument = op.args[place] if len(op.args) > place else None
    return argument.name if isinstance(argument, Ref) else None


def argument(op: Op, place: int, name: str, default: object = None) -> object:
    return op.args[place] if len(op.args) > place else op.kwargs.get(name, default)


def uncast(program: Program, name: str) -> str:
    """The value before it was cast, as far back as that goes."""
    while (op := program.ops.get(name)) is not None and op.base in CASTS and op.target != "view.dtype":
        name = op.reads[0]
    return name


def order_of(program: Program, op: Op) -> tuple[int, ...] | None:
    """For each dimension of the result the operand's; None when the operation is no turning of dimensions."""
    if op.base not in _TURNS:
        return None
    rank = len(program.types[op.name].shape)
    order = list(range(rank))
    if op.base == "permute":
        return tuple(int(number.constant) % rank for number in op.args[1])
    if op.base in ("t", "numpy_T"):
        return tuple(reversed(order))
    one, two = (-2, -1) if op.base == "mT" else (int(op.args[place].constant) % rank for place in (1, 2))
    order[one], order[two] = order[two], order[one]
    return tuple(order)


def regrouped(program: Program, op: Op) -> str | None:
    """The operand of a reshape that leaves the last two dimensions as they are."""
    if op.base not in RESHAPES or op.target == "view.dtype":
        return None
    before, after = program.types[op.reads[0]].shape, program.types[op.name].shape
    if len(before) < 2 or len(after) < 2 or before[-2:] != after[-2:]:
        return None
    same = product(before[:-2], program.workloads) == product(after[:-2], program.workloads)
    return op.reads[0] if same else None


def uniform(program: Program, value: object) -> Vector | tuple[float, ...] | None:
    """The number that every element is, one for each workload."""
    if isinstance(value, Number):
        return value.values
    if not isinstance(value, Ref):
        return None
    held = program.constants.get(value.name)
    if isinstance(held, int | float):
        return (held,) * program.workloads
    op = program.ops.get(value.name)
    if op is None:
        return None
    if op.base in _FILLED:
        return uniform(program, argument(op, _FILLED[op.base], "fill_value"))
    if op.base in CASTS | {"expand", "view", "reshape", "unsqueeze"}:
        return uniform(program, op.args[0])
    return None


def softmax_operand(program: Program, name: str) -> str | None:
    """The scores that `name` is the softmax of along the last dimension, called or spelled out."""
    op = program.ops.get(name)
    if op is None:
        return None
    if op.base in ("softmax", "_softmax"):
        rank = len(program.types[name].shape)
        dim = argument(op, 1, "dim")
        return op.reads[0] if isinstance(dim, Number) and dim.constant in (-1, rank - 1) else None
    if op.base != "div" or operand(op) is None or operand(op, 1) is None:
        return None
    power, total = program.ops.get(op.args[0].name), program.ops.get(op.args[1].name)
    if power is None or total is None or power.base != "exp" or not along_last(program, total, "sum"):
        return None
    shifted = program.ops.get(power.reads[0])
    if (
        total.reads[0] != power.name
        or shifted is None
        or shifted.base != "sub"
        or operand(shifted, 1) is None
    ):
        return None
    most = program.ops.get(shifted.args[1].name)
    if most is not None and most.base == "getitem":
        most = program.ops[most.reads[0]]
    is_most = (
        most is not None and most.reads[:1] == shifted.reads[:1] and along_last(program, most, "amax", "max")
    )
    return operand(shifted) if is_most else None


def along_last(program: Program, op: Op, *bases: str) -> bool:
    """Whether it reduces the last dimension alone and keeps it."""
    if op.base not in bases or len(op.args) < 2 or argument(op, 2, "keepdim") is not True:
        return False
    dims = op.args[1] if isinstance(op.args[1], tuple) else (op.args[1],)
    rank = len(program.types[op.reads[0]].shape)
    return [int(n.constant or 0) % rank for n in dims if isinstance(n, Number)] == [rank - 1]
