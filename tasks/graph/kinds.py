"""What kind of loop each operation of torch is, and which of its operands it leaves alone."""

from __future__ import annotations

from typing import Any

import torch

from tasks.graph.model import Kind

FREE = {
    "detach", "detach_", "_unsafe_view", "lift_fresh", "lift_fresh_copy", "_reshape_alias", "alias", "set_",
    "empty", "empty_like", "empty_strided", "new_empty", "new_empty_strided", "empty_permuted",
    "_local_scalar_dense", "is_same_size", "resize_", "resolve_conj", "resolve_neg", "_conj", "squeeze_",
    "unsqueeze_", "transpose_", "t_", "as_strided_", "swapaxes_", "swapdims_",
}  # fmt: skip
"""Views by another name, and memory that is only set aside."""
ALIASES = FREE - {
    "empty", "empty_like", "empty_strided", "new_empty", "new_empty_strided", "empty_permuted",
    "lift_fresh_copy", "_local_scalar_dense", "is_same_size",
}  # fmt: skip
ROWS = {
    "_softmax", "_log_softmax", "_safe_softmax", "native_layer_norm", "native_group_norm", "rms_norm",
    "_fused_rms_norm", "_softmax_backward_data", "native_layer_norm_backward", "logsumexp", "max", "min",
    "_log_softmax_backward_data", "argmax", "argmin", "native_batch_norm", "_native_batch_norm_legit",
    "native_group_norm_backward", "_fused_rms_norm_backward", "aminmax", "var_mean", "std_mean", "median",
    "mode", "amax", "amin", "any", "all", "sum", "mean", "prod", "var", "std", "norm", "linalg_vector_norm",
    "count_nonzero", "nansum", "_cdist_forward", "max_pool2d_with_indices", "avg_pool2d", "avg_pool1d",
    "_adaptive_avg_pool2d", "adaptive_max_pool2d", "max_pool3d_with_indices", "avg_pool3d", "kthvalue",
    "_batch_norm_with_update", "cudnn_batch_norm", "native_batch_norm_backward", "argsort_rows",
    "avg_pool2d_backward", "max_pool2d_with_indices_backward", "_adaptive_avg_pool2d_backward", "equal",
}  # fmt: skip
SCANS = {"cumsum", "cumprod", "cummax", "cummin", "logcumsumexp", "cumsum_", "cumprod_", "_cummax_helper"}
SORTS = {
    "sort", "argsort", "topk", "nonzero", "unique_consecutive", "_unique", "_unique2", "unique_dim", "bincount",
    "histc", "multinomial", "searchsorted", "bucketize", "masked_select", "repeat_interleave", "msort",
}  # fmt: skip
GATHERS = {"index", "index_select", "gather", "embedding", "take", "take_along_dim", "_unsafe_index"}
SCATTERS = {
    "index_put", "index_put_", "_index_put_impl_", "_unsafe_index_put", "scatter", "scatter_", "scatter_add",
    "scatter_add_", "scatter_reduce", "scatter_reduce_", "index_add", "index_add_", "index_copy", "index_copy_",
    "embedding_dense_backward", "index_fill", "index_fill_", "masked_scatter", "masked_scatter_", "put_",
    "index_reduce", "index_reduce_", "index_backward",
}  # fmt: skip
WRITE_ONLY = {
    "copy_",
    "fill_",
    "zero_",
    "uniform_",
    "normal_",
    "random_",
    "bernoulli_",
    "exponential_",
    "copy",
}
MOVES = {
    "_to_copy", "copy_", "copy", "cat", "stack", "clone", "tril", "triu", "tril_", "triu_", "constant_pad_nd",
    "slice_scatter", "select_scatter", "diagonal_scatter", "as_strided_scatter", "repeat", "flip", "roll",
    "rot90", "masked_fill", "masked_fill_", "where", "reflection_pad1d", "reflection_pad2d",
    "replication_pad2d", "upsample_nearest2d", "upsample_bilinear2d", "upsample_nearest1d", "pixel_shuffle",
    "pixel_unshuffle", "im2col", "col2im", "unfold_backward", "slice_backward", "select_backward", "channel_shuffle",
    "native_dropout", "grid_sampler_2d", "block_diag", "diag_embed", "view_copy", "polar", "complex",
    "_pack_padded_sequence", "linspace", "logspace", "replication_pad1d", "upsample_bicubic2d",
    "_upsample_nearest_exact2d", "upsample_linear1d", "upsample_trilinear3d", "upsample_nearest3d", "narrow_copy",
    "one_hot", "kron", "unsafe_split", "_foreach_add", "split_with_sizes_copy", "outer", "_weight_norm_interface",
}  # fmt: skip
MAKES = {
    "zeros", "ones", "full", "zeros_like", "ones_like", "full_like", "new_zeros", "new_ones", "new_full", "arange",
    "scalar_tensor", "eye", "fill_", "zero_", "rand", "randn", "randint", "randperm", "rand_like", "randn_like",
    "randint_like", "tril_indices", "triu_indices", "uniform_", "normal_", "random_", "linspace", "logspace",
    "hann_window", "constant",
}  # fmt: skip
MATRIX_VECTOR = {"mv", "dot", "vdot", "addmv", "addmv_", "addr"}
"""Products that torch's own counter of operations leaves out."""


def name_of(function: Any) -> str:
    """`mm` of `aten.mm.default`; a Python function's own name."""
    schema = getattr(function, "_schema", None)
    return str(schema.name.split("::")[1]) if schema is not None else str(function.__name__)


def is_view(function: Any, name: str) -> bool:
    """Whether its output is another look at the same memory."""
    return name in ALIASES or bool(getattr(function, "is_view", False))


_BY_KIND: tuple[tuple[Kind, set[str]], ...] = (
    ("view", FREE), ("make", MAKES), ("rows", ROWS), ("scan", SCANS), ("sort", SORTS), ("gather", GATHERS),
    ("scatter", SCATTERS), ("pointwise", MOVES),
)  # fmt: skip


def kind_of(function: Any, name: str, *, is_matrix: bool) -> Kind:
    """The kind of a call; `opaque` when nothing is known of it."""
    if is_view(function, name):
        return "view"
    if "scaled_dot_product" in name or "flash_attention" in name or name == "_flex_attention":
        return "attention"
    if is_matrix:
        return "matmul"
    found = next((kind for kind, names in _BY_KIND if name in names), None)
    return found or _kind_by_tag(function, name)


def _kind_by_tag(function: Any, name: str) -> Kind:
    tags = getattr(function, "tags", ())
    if torch.Tag.pointwise in tags or torch.Tag.pointwise in _functional_tags(function, name):
        return "pointwise"
    if torch.Tag.reduction in tags:
        return "rows"
    if name.startswith(("_fft", "fft")):
        return "rows"
    if name.endswith("_backward") or function.namespace in ("aten", "prims"):
        return "pointwise"  # most of what is left of torch's own: derivatives of pointwise operations
    return "opaque"


def _functional_tags(function: Any, name: str) -> Any:
    """Of an in-place operation the tags of the one that is not."""
    packet = getattr(torch.ops.aten, name.rstrip("_"), None) if name.endswith("_") else None
    overload = getattr(packet, getattr(function, "_overloadname", "default"), None) if packet else None
    return getattr(overload, "tags", ())
