"""From a task to a `PagedAttention`: inputs told by shape, type and name, and a reference that does nothing else.

These references loop over sequences of lengths that are values, so they cannot be read as straight-line code. What
they compute is concluded from the parts they are made of; the guard has the last word, as on every candidate.
"""

import ast
from collections.abc import Iterable

from agents.reading.reachable import reachable_source
from agents.templates.paged_attention.form import PagedAttention
from tasks.definition import AxisConst, Definition, DType, TensorSpec
from tasks.task import Task

_NEEDED = frozenset({"softmax"})
_MAKING = frozenset(
    {
        "tensor",
        "zeros",
        "zeros_like",
        "new_zeros",
        "ones",
        "ones_like",
        "empty",
        "empty_like",
        "full",
        "full_like",
        "arange",
    }
)
_SHAPING = frozenset(
    {
        "view",
        "reshape",
        "flatten",
        "unflatten",
        "squeeze",
        "unsqueeze",
        "transpose",
        "permute",
        "expand",
        "contiguous",
        "repeat_interleave",
        "cat",
    }
)
_ASKING = frozenset({"item", "tolist", "numel", "size", "len", "range", "int", "bool", "any", "isinf"})
_COMPUTING = frozenset({"einsum", "matmul", "exp", "log", "logsumexp", "max", "min", "sqrt"})
_MASKING = frozenset(
    {"masked_fill", "masked_fill_", "where", "triu", "tril", "logical_not", "zero_", "nan_to_num", "clamp"}
)
_CASTING = frozenset({"float", "double", "long", "to", "no_grad"})
_KNOWN = _NEEDED | _MAKING | _SHAPING | _ASKING | _COMPUTING | _MASKING | _CASTING
_CAUSAL = frozenset({"masked_fill", "masked_fill_", "min", "where", "triu", "tril", "max"})
_HALF = (DType.BFLOAT16, DType.FLOAT16)
_LONGEST_HEAD = 256


def recognise(task: Task, prefill: bool) -> PagedAttention | None:
    """`prefill`: several queries a sequence, causal; otherwise one query, which sees every key."""
    definition = task.definition
    calls = _calls(definition)
    roles = _roles(definition)
    if roles is None or calls is None or not _NEEDED <= calls <= _KNOWN | _functions(definition):
        return None
    has_lse = "logsumexp" in calls
    if (roles.query_starts is not None) != prefill or (roles.lse is not None) != has_lse:
        return None
    return roles if not prefill or calls & _CAUSAL else None


def _roles(definition: Definition) -> PagedAttention | None:
    """None unless every input and output has one of the parts, and all that is needed is there."""
    found: dict[str, str] = {}
    for name, spec in definition.inputs.items():
        role = _role(name, spec)
        if role is None or role in found:
            return None
        found[role] = name
    for name, spec in definition.outputs.items():
        role = "lse" if spec.dtype is DType.FLOAT32 else "output"
        if role in found:
            return None
        found[role] = name
    if not {"query", "keys", "values", "key_starts", "scale", "output"} <= found.keys():
        return None
    sizes = _sizes(definition, found)
    if sizes is None:
        return None
    return PagedAttention(
        inputs=tuple(definition.inputs),
        outputs=tuple(definition.outputs),
        query=found["query"],
        keys=found["keys"],
        values=found["values"],
        query_starts=found.get("query_starts"),
        key_starts=found["key_starts"],
        pages=found.get("pages"),
        last_page_tokens=found.get("last_page_tokens"),
        scale=found["scale"],
        output=found["output"],
        lse=found.get("lse"),
        lse_base=_base(definition),
        query_heads=sizes[0],
        kv_heads=sizes[1],
        head_dim=sizes[2],
    )


def _role(name: str, spec: TensorSpec) -> str | None:
    """The part that an input plays: floating-point tensors by their name's first letter, integers by their words."""
    words = name.lower()
    rank = None if spec.shape is None else len(spec.shape)
    if rank is None:
        return "scale" if "scale" in words else None
    if rank == 1 and spec.dtype in (DType.INT32, DType.INT64):
        return _integer_role(words)
    if spec.dtype in _HALF and rank in (3, 4):
        return {"q": "query", "k": "keys", "v": "values"}.get(words[0])
    return None


def _integer_role(words: str) -> str | None:
    if "last" in words:
        return "last_page_tokens"
    if "indices" in words:
        return "pages"
    if "indptr" in words or "starts" in words:
        return "query_starts" if words.startswith("q") else "key_starts"
    return None


def _sizes(definition: Definition, found: dict[str, str]) -> tuple[int, int, int] | None:
    """Query heads, key-value heads, elements a head; None for shapes that do not fit together."""
    query, keys, values = (definition.inputs[found[role]].shape or () for role in ("query", "keys", "values"))
    paged = "pages" in found
    if len(query) != 3 or keys != values or len(keys) != (4 if paged else 3) or query[-1] != keys[-1]:
        return None
    if paged and "last_page_tokens" not in found and _constant(definition, keys[1]) != 1:
        return None
    heads, kv_heads, dims = (_constant(definition, axis) for axis in (query[1], keys[-2], keys[-1]))
    if heads is None or kv_heads is None or dims is None or heads % kv_heads:
        return None
    return (heads, kv_heads, dims) if dims in (16, 32, 64, 128, _LONGEST_HEAD) else None


def _constant(definition: Definition, axis: str | int) -> int | None:
    if isinstance(axis, int):
        return axis
    if axis.isdecimal():
        return int(axis)
    size = definition.axes.get(axis)
    return size.value if isinstance(size, AxisConst) else None


def _base(definition: Definition) -> int | None:
    """2 where the reference divides by the logarithm of two."""
    for node in ast.walk(ast.parse(reachable_source(definition.reference, "run"))):
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Div) and _is_log_of_two(node.right):
            return 2
    return None


def _is_log_of_two(node: ast.expr) -> bool:
    match node:
        case ast.Call(func=ast.Attribute(attr="log"), args=[ast.Constant(value=value)]):
            return value == 2
    return False


def _calls(definition: Definition) -> frozenset[str] | None:
    """Last names of everything that the reference calls, from `run` on."""
    module = ast.parse(reachable_source(definition.reference, "run"))
    return frozenset(_called(node for node in ast.walk(module) if isinstance(node, ast.Call)))


def _called(calls: Iterable[ast.Call]) -> Iterable[str]:
    for call in calls:
        match call.func:
            case ast.Attribute(attr=name) | ast.Name(id=name):
                yield name


def _functions(definition: Definition) -> frozenset[str]:
    """The reference's own functions, whose calls are looked at too."""
    return frozenset(
        node.name for node in ast.parse(definition.reference).body if isinstance(node, ast.FunctionDef)
    )
