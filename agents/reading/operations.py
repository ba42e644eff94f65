"""The operations that patterns speak of: their arguments in order, and the spellings they go by."""

SIGNATURES: dict[str, tuple[str, ...]] = {
    "abs": ("input",),
    "addmm": ("input", "mat1", "mat2"),
    "amax": ("input", "dim", "keepdim"),
    "arange": ("end", "dtype"),
    "baddbmm": ("input", "batch1", "batch2"),
    "cat": ("tensors", "dim"),
    "chunk": ("input", "chunks", "dim"),
    "clamp": ("input", "min", "max"),
    "contiguous": ("input",),
    "cos": ("input",),
    "exp": ("input",),
    "expand": ("input", "sizes"),
    "full": ("size", "fill_value"),
    "gelu": ("input", "approximate"),
    "layer_norm": ("input", "normalized_shape", "weight", "bias", "eps"),
    "linear": ("input", "weight", "bias"),
    "masked_fill": ("input", "mask", "value"),
    "matmul": ("input", "other"),
    "mean": ("input", "dim", "keepdim"),
    "neg": ("input",),
    "ones": ("size", "dtype"),
    "outer": ("input", "vec2"),
    "pow": ("input", "exponent"),
    "reciprocal": ("input",),
    "repeat_interleave": ("input", "repeats", "dim"),
    "reshape": ("input", "sizes"),
    "rms_norm": ("input", "normalized_shape", "weight", "eps"),
    "rsqrt": ("input",),
    "scaled_dot_product_attention": (
        "query", "key", "value", "attn_mask", "dropout_p", "is_causal", "scale", "enable_gqa",
    ),
    "sigmoid": ("input",),
    "silu": ("input",),
    "sin": ("input",),
    "softmax": ("input", "dim", "dtype"),
    "sqrt": ("input",),
    "sum": ("input", "dim", "keepdim"),
    "tanh": ("input",),
    "to": ("input", "dtype"),
    "transpose": ("input", "dim0", "dim1"),
    "tril": ("input", "diagonal"),
    "triu": ("input", "diagonal"),
    "unsqueeze": ("input", "dim"),
    "var": ("input", "dim", "correction", "keepdim"),
    "where": ("condition", "input", "other"),
}  # fmt: skip

SPELLINGS = {
    "bmm": "matmul",
    "mm": "matmul",
    "view": "reshape",
    "multiply": "mul",
    "divide": "div",
    "subtract": "sub",
    "true_divide": "div",
}
"""Other names of the same operation, for what a pattern cares about."""

VARIADIC = frozenset({"reshape", "expand", "ones", "full"})
"""Sizes may be given one by one or as one tuple."""

RENAMED_KEYWORDS = {"keepdims": "keepdim", "axis": "dim", "x": "input", "self": "input", "shape": "sizes"}

DEFAULTS: dict[tuple[str, str], int | float | bool | str | None] = {
    ("mean", "keepdim"): False,
    ("sum", "keepdim"): False,
    ("amax", "keepdim"): False,
    ("var", "keepdim"): False,
    ("var", "correction"): 1,
    ("triu", "diagonal"): 0,
    ("tril", "diagonal"): 0,
    ("gelu", "approximate"): "none",
    ("linear", "bias"): None,
    ("softmax", "dtype"): None,
    ("rms_norm", "weight"): None,
    ("layer_norm", "weight"): None,
    ("layer_norm", "bias"): None,
    ("repeat_interleave", "dim"): None,
    ("cat", "dim"): 0,
}

DTYPE_METHODS = {"float": "float32", "half": "float16", "bfloat16": "bfloat16", "double": "float64"}

DTYPES = {
    "float": "float32", "half": "float16", "double": "float64", "long": "int64", "int": "int32",
    **{name: name for name in (
        "float64", "float32", "float16", "bfloat16", "float8_e4m3fn", "float8_e5m2", "float4_e2m1fn_x2",
        "int64", "int32", "int16", "int8", "uint8", "bool",
    )},
}  # fmt: skip
"""Attributes of `torch` that are element types."""
