"""From a task to an `Nvfp4Gqa`: inputs told by shape and type, and a reference made of the parts that it needs."""

import ast

from agents.reading.reachable import reachable_source
from agents.templates.nvfp4_gqa.form import Nvfp4, Nvfp4Gqa
from tasks.definition import AxisConst, Definition, DType
from tasks.task import Task

_CALLS = frozenset(
    {"dequantise", "tensor", "cat", "arange", "stack", "view", "int", "flatten", "unflatten", "float", "reshape"}
    | {"to", "split", "einsum", "sqrt", "masked_fill", "softmax", "no_grad"}
)  # fmt: skip
_NEEDED = frozenset({"softmax", "split", "masked_fill"})


def recognise(task: Task) -> Nvfp4Gqa | None:
    """None unless the inputs are four NVFP4 tensors in the order token, weight, keys, values, and nothing else."""
    definition = task.definition
    tensors = _tensors(definition)
    calls = _calls(definition)
    if tensors is None or len(tensors) != 4 or not _NEEDED <= calls <= _CALLS:
        return None
    shapes = [definition.inputs[tensor.codes].shape or () for tensor in tensors]
    outputs = list(definition.outputs.items())
    if [len(shape) for shape in shapes] != [3, 2, 4, 4] or shapes[2] != shapes[3] or len(outputs) != 1:
        return None
    heads = _heads(definition, shapes[1][0], shapes[2])
    if heads is None or outputs[0][1].dtype is not DType.BFLOAT16:
        return None
    token, weight, key, value = tensors
    return Nvfp4Gqa(tuple(definition.inputs), token, weight, key, value, outputs[0][0], *heads)


def _tensors(definition: Definition) -> list[Nvfp4] | None:
    """Codes, scales and factor, one tensor after another."""
    names = list(definition.inputs)
    if len(names) % 3:
        return None
    found = []
    for codes, scales, factor in zip(names[::3], names[1::3], names[2::3], strict=True):
        kinds = [definition.inputs[name] for name in (codes, scales, factor)]
        if [kind.dtype for kind in kinds] != [DType.FLOAT4_E2M1FN_X2, DType.FLOAT8_E4M3FN, DType.FLOAT32]:
            return None
        if kinds[2].shape is not None:
            return None
        found.append(Nvfp4(codes, scales, factor))
    return found


def _heads(definition: Definition, columns: str, cache: tuple[str, ...]) -> tuple[int, int, int] | None:
    """Query heads, key-value heads, elements a head, when the projection makes just these."""
    sizes = {name: axis.value for name, axis in definition.axes.items() if isinstance(axis, AxisConst)}
    everything = definition.resolve_axes({})
    kv_heads, dims = sizes.get(cache[2]), everything.get(cache[3], 0) * 2
    projected = everything.get(columns, 0)
    if kv_heads is None or dims not in (64, 128, 256) or projected % dims:
        return None
    query_heads = projected // dims - 2 * kv_heads
    return (query_heads, kv_heads, dims) if query_heads > 0 and query_heads % kv_heads == 0 else None


def _calls(definition: Definition) -> frozenset[str]:
    """Last names of everything that the reference calls, from `run` on."""
    module = ast.parse(reachable_source(definition.reference, "run"))
    return frozenset(
        call.func.attr if isinstance(call.func, ast.Attribute) else ast.unparse(call.func)
        for call in ast.walk(module)
        if isinstance(call, ast.Call)
    )
