"""torch's own operations as launches: bytes in and out, arithmetic, and how many kernels are started."""

from __future__ import annotations

from math import prod
from typing import Any

import torch
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils.flop_counter import flop_registry

from guard.cross_compile.steps import Recorder, Step, Storage
from guard.prediction import Kind, Launch
from tasks.gpu import Arithmetic
from tasks.tensors import distinct_bytes, tensors_in

_FREE = {
    "empty", "empty_like", "empty_strided", "new_empty", "new_empty_strided", "detach", "_unsafe_view",
    "lift_fresh", "_local_scalar_dense", "set_", "resize_", "is_same_size", "_reshape_alias",
}  # fmt: skip
_ROWS = {
    "_softmax", "_log_softmax", "_safe_softmax", "native_layer_norm", "native_group_norm", "rms_norm",
    "_fused_rms_norm", "_softmax_backward_data", "native_layer_norm_backward", "logsumexp", "cumsum",
    "cumprod", "max", "min", "argmax", "argmin", "_log_softmax_backward_data",
}  # fmt: skip
_READ_BY_INDEX = {"index", "index_select", "gather", "embedding", "take", "take_along_dim"}
_WRITTEN_BY_INDEX = {
    "index_put", "index_put_", "_index_put_impl_", "scatter", "scatter_", "scatter_add", "scatter_add_",
    "scatter_reduce", "scatter_reduce_", "index_add", "index_add_", "index_copy", "index_copy_",
}  # fmt: skip
_WRITE_ONLY = {"copy_", "fill_", "zero_", "uniform_", "normal_"}
_FUSABLE = {
    "_to_copy", "copy_", "fill_", "zero_", "zeros", "ones", "full", "zeros_like", "ones_like", "full_like",
    "new_zeros", "new_full", "arange", "scalar_tensor", "cat", "stack", "tril", "triu", "constant_pad_nd",
    "slice_scatter", "select_scatter", "repeat", "flip", "roll", "index", "index_select", "gather",
    "embedding", "_softmax", "_log_softmax", "_safe_softmax", "native_layer_norm", "rms_norm",
    "_fused_rms_norm", "max", "min", "argmax", "argmin", "logsumexp", "masked_fill", "masked_fill_", "where",
}  # fmt: skip
_KERNELS = {
    "sort": 4, "argsort": 4, "topk": 3, "nonzero": 3, "unique_consecutive": 4, "_unique2": 6, "bincount": 3,
    "index_put_": 1, "histc": 2, "convolution": 2, "multinomial": 3,
}  # fmt: skip
"""Where a library starts several kernels; rough, from reading traces of such calls."""
_DTYPE_ARITHMETIC: dict[torch.dtype, Arithmetic] = {
    torch.bfloat16: "bf16", torch.float16: "fp16", torch.float64: "fp64", torch.int8: "int8",
    torch.float8_e4m3fn: "fp8", torch.float8_e5m2: "fp8", torch.float4_e2m1fn_x2: "nvfp4",
}  # fmt: skip


class LibraryCalls(TorchDispatchMode):
    """Notes every operation that touches a tensor on the pretended GPU (`device_type`: meta or cpu)."""

    def __init__(self, recorder: Recorder, device_type: str) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self.recorder, self.device_type = recorder, device_type

    @classmethod
    def _should_skip_dynamo(cls) -> bool:
        """Nothing here is ever compiled; saying so would import torch._dynamo, which takes seconds."""
        return False

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = kwargs or {}
        out = func(*args, **kwargs)
        if self.recorder.on and func.namespace != "prim" and not func.is_view:
            name = func._schema.name.split("::")[1]
            tensors = [t for t in tensors_in((args, kwargs, out)) if t.device.type == self.device_type]
            if tensors and name not in _FREE:
                self.recorder.add(_step(self.recorder, func, name, args, kwargs, out))
        return out


def note_call(recorder: Recorder, name: str, kind: Kind, reads: Any, out: Any, **launch: Any) -> None:
    """Note a library call that torch would take to pieces without a GPU, as the one launch it is on a GPU."""
    read, written = storages(recorder, reads), storages(recorder, out)
    total = sum(read.values()) + sum(written.values())
    recorder.add(
        Step(
            Launch(name=name, kind=kind, bytes=total, **launch),
            read, written, fusable=name in _FUSABLE, region=recorder.region,
        )
    )  # fmt: skip


def storage_of(tensor: torch.Tensor) -> Storage:
    return int(tensor.untyped_storage()._cdata)


def storages(recorder: Recorder, value: Any) -> dict[Storage, int]:
    """Bytes by storage; views of one storage count the largest of them."""
    found: dict[Storage, int] = {}
    for tensor in tensors_in(value):
        recorder.alive.append(tensor)
        key = storage_of(tensor)
        found[key] = max(found.get(key, 0), distinct_bytes(tensor))
    return found


def matrix_arithmetic(dtype: torch.dtype) -> Arithmetic:
    """What the matrix units do with operands of `dtype` under the settings of this moment."""
    if dtype == torch.float32:
        return "fp32" if torch.get_float32_matmul_precision() == "highest" else "tf32"
    return _DTYPE_ARITHMETIC.get(dtype, "fp32")


def _step(recorder: Recorder, func: Any, name: str, args: Any, kwargs: Any, out: Any) -> Step:
    written_arguments = [
        args[i] if i < len(args) else kwargs.get(argument.name)
        for i, argument in enumerate(func._schema.arguments)
        if argument.alias_info is not None and argument.alias_info.is_write
    ]
    writes = storages(recorder, (written_arguments, out))
    reads = storages(recorder, (args, kwargs))
    if name in _WRITE_ONLY or "out" in kwargs:
        for tensor in tensors_in((written_arguments,)):
            reads.pop(storage_of(tensor), None)
    _index_only_what_is_named(name, args, reads, writes, out)
    flops, matrix = _matrix_work(func, name, args, kwargs, out)
    return Step(
        Launch(
            name=name,
            kind=_kind(func, name, bool(flops)),
            bytes=sum(reads.values()) + sum(writes.values()),
            flops=flops,
            kernels=_KERNELS.get(name, 1),
            matrix=matrix,
        ),
        reads,
        writes,
        fusable=not flops and _fusable(func, name),
        region=recorder.region,
    )


def _index_only_what_is_named(
    name: str, args: Any, reads: dict[Storage, int], writes: dict[Storage, int], out: Any
) -> None:
    """Rows picked by an index: neither the whole table is read nor the whole target written."""
    if name in _READ_BY_INDEX:
        key = storage_of(args[0])
        moved = sum(distinct_bytes(tensor) for tensor in tensors_in(out))
        reads[key] = min(reads[key], moved)
    elif name in _WRITTEN_BY_INDEX:
        values = max((distinct_bytes(t) for t in tensors_in(args[1:])), default=0)
        if name.endswith("_"):
            key = storage_of(args[0])
            reads[key] = min(reads.get(key, 0), values)
            writes[key] = min(writes.get(key, 0), values)


def _kind(func: Any, name: str, is_matrix: bool) -> Kind:
    if is_matrix:
        return "gemm"
    if name in _ROWS or torch.Tag.reduction in func.tags:
        return "rows"
    return "gather" if name in _READ_BY_INDEX | _WRITTEN_BY_INDEX else "copy"


def _fusable(func: Any, name: str) -> bool:
    return name in _FUSABLE or torch.Tag.pointwise in func.tags or torch.Tag.reduction in func.tags


def _matrix_work(
    func: Any, name: str, args: Any, kwargs: Any, out: Any
) -> tuple[dict[Arithmetic, int], tuple[int, int, int, int] | None]:
    """Operations by format, and batch, m, n, k where it is a plain product."""
    operands = [t for t in tensors_in((args, kwargs)) if t.dim() >= 2]
    first = 1 if name in ("addmm", "baddbmm") else 0
    if name in ("_grouped_mm", "_scaled_grouped_mm", "_int_mm"):
        shape: tuple[int, int, int, int] | None
        left, right = operands[:2]
        rows, depth = prod(left.shape[:-1]), left.shape[-1]
        flops = 2 * rows * depth * right.shape[-1]
        shape = (1, rows, right.shape[-1], depth)
    elif func._overloadpacket in flop_registry:
        flops = int(flop_registry[func._overloadpacket](*args, **kwargs, out_val=out))
        shape = _product_shape(name, [t for t in tensors_in(args)][first:])
    else:
        return {}, None
    tensors = list(tensors_in(args))
    arithmetic = matrix_arithmetic(tensors[min(first, len(tensors) - 1)].dtype)
    if arithmetic == "nvfp4":
        flops *= 2  # the packed axis holds two values in a byte
    return {arithmetic: flops}, shape


def _product_shape(name: str, operands: list[torch.Tensor]) -> tuple[int, int, int, int] | None:
    if name in ("mm", "addmm", "_scaled_mm"):
        left, right = operands[:2]
        return 1, left.shape[0], right.shape[1], left.shape[1]
    if name in ("bmm", "baddbmm"):
        left, right = operands[:2]
        return left.shape[0], left.shape[1], right.shape[2], left.shape[2]
    return None
