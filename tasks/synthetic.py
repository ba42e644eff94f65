"""What a missing recorded input is for, told by its name, type, shape and description, and what bounds it.

Without torch: decides the role and the bounds of every stand-in; `tasks.inputs_synthetic` draws them.
"""

from collections.abc import Callable, Mapping
from typing import Literal

from tasks.blobs import missing_blobs
from tasks.definition import Definition, DType, Shape, TensorSpec
from tasks.dtypes import INTEGERS
from tasks.errors import TaskError
from tasks.task import Task
from tasks.value import Value

Role = Literal["index-pointer", "page-indices", "last-page", "length", "choice", "position", "plain"]


class StandIn(Value):
    """One tensor to be made up. The meaning of `bound` is the role's:

    `index-pointer`: the value it ends at. `page-indices`, `choice`, `position`: values lie in [0, bound).
    `length`, `last-page`: values lie in [1, bound]. `plain`: drawn by the rules for random inputs, no bound.
    """

    name: str
    role: Role
    shape: Shape
    dtype: DType
    bound: int = 0


def mark_synthetic(task: Task) -> Task:
    """`task`, marked `synthetic-inputs` when any recorded input of it cannot be found."""
    if "synthetic-inputs" in task.marks or not missing_blobs(task):
        return task
    return task.model_copy(update={"marks": (*task.marks, "synthetic-inputs")})


def plan_stand_in(definition: Definition, axes: Mapping[str, int], name: str) -> StandIn:
    """The role and bound of input `name` at the workload's `axes`; `TaskError` when it is not recognised."""
    spec, shape = definition.inputs[name], definition.input_shapes(axes)[name]
    if shape is None:
        raise _unrecognised(definition, name)
    if spec.dtype not in INTEGERS:
        return StandIn(name=name, role="plain", shape=shape, dtype=spec.dtype)
    role = next((role for role, applies in _ROLES if applies(name.lower(), spec)), None)
    if role is None:
        raise _unrecognised(definition, name)
    bound = _BOUNDS[role](_Sizes(definition, axes), name)
    if bound is None:
        raise _unrecognised(definition, name)
    return StandIn(name=name, role=role, shape=shape, dtype=spec.dtype, bound=bound)


def _described(spec: TensorSpec, *words: str) -> bool:
    text = (spec.description or "").lower()
    return all(word in text for word in words)


def _is_pointer(name: str, spec: TensorSpec) -> bool:
    return "indptr" in name or "cu_seqlens" in name or _described(spec, "offsets", "each sequence")


def _is_choice(name: str, spec: TensorSpec) -> bool:
    chosen = "topk" in name or ("expert" in name and name.endswith(("_ids", "_idx", "_indices")))
    return chosen or _described(spec, "selected", "expert")


def _is_pages(name: str, spec: TensorSpec) -> bool:
    tables = ("_indices", "page_table", "block_table", "block_tables", "page_ids")
    return name == "indices" or name.endswith(tables) or _described(spec, "page ids")


def _is_position(name: str, spec: TensorSpec) -> bool:
    return "position" in name or name.startswith("pos_") or "slot_mapping" in name


_ROLES: tuple[tuple[Role, Callable[[str, TensorSpec], bool]], ...] = (
    ("index-pointer", _is_pointer),
    ("last-page", lambda name, spec: "last_page" in name),
    ("choice", _is_choice),
    ("page-indices", _is_pages),
    ("position", _is_position),
    ("length", lambda name, spec: "len" in name),
)
"""Asked in this order, of the name in lower case; the first that applies holds."""


class _Sizes:
    """Sizes by what they are called, looked up among the resolved axes."""

    def __init__(self, definition: Definition, axes: Mapping[str, int]) -> None:
        self.definition, self.axes = definition, definition.resolve_axes(axes)

    def first(self, *names: str) -> int | None:
        return next((self.axes[name] for name in names if name in self.axes), None)

    def leading(self, *parts: str) -> int | None:
        """The first axis of the first tensor whose name holds one of `parts` as a word."""
        for name, spec in self.definition.inputs.items():
            if spec.shape and set(parts) & set(name.lower().split("_")):
                axis = spec.shape[0]
                return int(axis) if axis.isdecimal() else self.axes[axis]
        return None

    @property
    def pages(self) -> int | None:
        return self.first("num_pages", "num_blocks", "total_pages") or self.leading("cache")

    @property
    def page_size(self) -> int:
        return self.first("page_size", "block_size") or 1


def _pointer_end(sizes: _Sizes, name: str) -> int | None:
    prefix = name.lower().split("_")[0]
    if prefix in ("q", "qo", "query"):
        return sizes.first("total_q", "nnz_qo", "total_qo", "num_q_tokens", "num_tokens") or sizes.leading(
            "q"
        )
    if prefix in ("kv", "k", "paged"):
        named = sizes.first("num_kv_indices", "num_indices", "total_kv", "nnz_kv", "num_kv_tokens")
        return sizes.leading("indices") or named if named is None else named
    return sizes.first(f"num_{prefix}_indices", f"total_{prefix}", "total_tokens", "num_tokens", "total_len")


def _page_count(sizes: _Sizes, name: str) -> int | None:
    return sizes.pages


def _longest(sizes: _Sizes, name: str) -> int | None:
    longest = sizes.first("max_seq_len", "max_kv_len", "max_seqlen", "kv_len", "seq_len", "seq_len_k")
    if longest is not None or sizes.pages is None:
        return longest
    table = sizes.first("max_num_pages", "max_pages_per_seq", "max_num_blocks")
    return (table or sizes.pages) * sizes.page_size


def _experts(sizes: _Sizes, name: str) -> int | None:
    return sizes.first(
        "num_experts", "n_routed_experts", "num_global_experts", "n_experts", "num_local_experts"
    )


def _places(sizes: _Sizes, name: str) -> int | None:
    if "slot" in name:
        return None if sizes.pages is None else sizes.pages * sizes.page_size
    return sizes.first("max_position_embeddings", "max_positions", "max_seq_len", "max_position", "seq_len")


_BOUNDS: dict[Role, Callable[[_Sizes, str], int | None]] = {
    "index-pointer": _pointer_end, "page-indices": _page_count, "choice": _experts, "position": _places,
    "length": _longest, "last-page": lambda sizes, name: sizes.page_size,
}  # fmt: skip


def _unrecognised(definition: Definition, name: str) -> TaskError:
    return TaskError(
        f"the recorded input {name!r} is missing, and none can be made: its structure is unknown",
        file=definition.name, field=name, mend="bring the recorded file with `kernelarc data download`",
    )  # fmt: skip
