"""What a reference may say when it is performed: functions that compute on tensors and reach nothing else."""

BUILTINS = {
    "abs": abs, "bool": bool, "enumerate": enumerate, "float": float, "int": int, "len": len, "list": list,
    "max": max, "min": min, "range": range, "round": round, "sum": sum, "tuple": tuple, "zip": zip,
}  # fmt: skip

MATH = frozenset({"ceil", "cos", "exp", "floor", "log", "log2", "pow", "prod", "sin", "sqrt", "tanh"})

_FUNCTIONS = """
    abs acos add addmm all amax amin any arange argsort atan2 baddbmm bincount bmm broadcast_to cat ceil clamp
    clone concat concatenate cos cumsum div dot einsum empty empty_like eq erf exp exp2 expand eye finfo flatten floor
    full full_like gather ge gelu gt hardtanh index_select isfinite isinf isnan layer_norm le linear log log2
    logical_and logical_not logical_or logsumexp lt masked_fill matmul max maximum mean min minimum mm mul mv ne neg
    nonzero norm numel one_hot ones ones_like outer pad permute pow prod reciprocal relu relu6 repeat_interleave reshape
    rms_norm round rsqrt scaled_dot_product_attention scatter searchsorted sigmoid sign silu sin softmax softplus sort
    split sqrt square squeeze stack std sub sum swapaxes take_along_dim tanh tensor topk transpose tril triu unbind
    unsqueeze var where zeros zeros_like
"""
_METHODS = """
    bfloat16 chunk contiguous cpu detach dim double element_size expand_as fill_ float half index_add index_add_
    int is_contiguous item long masked_fill_ mul_ add_ new_empty new_zeros new_full repeat scatter_ scatter_add
    scatter_add_ size sub_ t tolist to type type_as unflatten view view_as zero_ div_ copy_
"""

FUNCTIONS = frozenset(_FUNCTIONS.split())
"""Of `torch` and `torch.nn.functional`; most are methods of tensors too."""

METHODS = FUNCTIONS | frozenset(_METHODS.split())

ATTRIBUTES = frozenset(
    {"T", "device", "dtype", "eps", "indices", "max", "min", "mT", "ndim", "shape", "values"}
)
