"""L1: single operations in bf16."""

from scripts.shipped.assemble import ShippedTask, const, expr, scalar, sizes, tensor, var
from tasks.workload import Tolerance

GEMM = ShippedTask(
    name="l1_bf16_gemm",
    folder="L1",
    op_type="gemm",
    hf_id="meta-llama/Llama-3.1-8B",
    computes="""
    Matrix product of bf16 activations with a bf16 weight kept as [N, K], output in bf16. Sizes: cubes
    of 2048, 4096 and 8192; one to 64 tokens through the query-key-value projection of Qwen3-30B-A3B (N
    5120, K 2048) and the gate-and-up projection of Llama-3.1-8B (N 28672, K 4096), and that projection
    for 2048 tokens.
    """,
    bound_by="matrix units for the cubes; reading the weight once for 1 to 64 tokens",
    tolerance_because="""
    Tolerance 0.005 + 0.01 |x|: partial sums in bf16, as split-K makes them, match 0.9996 of the elements, fp8
    operands 0.27. Outputs have std 1, and a bf16 step is at most 0.8 % of one.
    """,
    axes={
        "M": var("tokens"),
        "N": var("features out"),
        "K": var("features in"),
    },
    inputs={
        "activations": tensor("bfloat16", "M K", "one row a token"),
        "weight": tensor("bfloat16", "N K", "one row a feature out"),
    },
    outputs={"product": tensor("bfloat16", "M N", "activations times the weight transposed")},
    sizes=sizes(
        "M N K",
        """
        4096x4096x4096 2048x2048x2048 8192x8192x8192 2048x28672x4096 1x5120x2048 4x5120x2048
        8x5120x2048 16x5120x2048 32x5120x2048 64x5120x2048 1x28672x4096 4x28672x4096 8x28672x4096
        16x28672x4096 32x28672x4096 64x28672x4096
        """,
    ),
    tolerance=Tolerance(max_atol=0.005, max_rtol=0.01),
)

PROJECTION = ShippedTask(
    name="l1_attention_projection_residual",
    folder="L1",
    op_type="gemm_residual",
    hf_id="meta-llama/Llama-3.1-8B",
    computes="""
    Output projection of attention, added to the residual stream. Width 4096 with 32 heads of 128, as in
    Llama-3.1-8B and Mistral-7B; the projection is rounded to bf16 before the addition.
    """,
    bound_by="matrix units from about 512 tokens on, reading the weight below",
    tolerance_because="""
    Tolerance 0.01 + 0.01 |x|: a projection kept in fp32 until the addition, and one with partial sums in
    bf16, match all elements; fp8 operands 0.42, the stream or the projection alone 0.01.
    """,
    axes={
        "batch_size": var("sequences"),
        "seq_len": var("tokens a sequence"),
        "hidden_size": const(4096, "width of the residual stream"),
        "heads_width": const(4096, "32 heads of 128"),
    },
    inputs={
        "heads": tensor(
            "bfloat16", "batch_size seq_len heads_width", "attention's result, heads side by side"
        ),
        "stream": tensor("bfloat16", "batch_size seq_len hidden_size", "residual stream"),
        "mix_weight": tensor("bfloat16", "hidden_size heads_width", "output projection"),
    },
    outputs={
        "new_stream": tensor("bfloat16", "batch_size seq_len hidden_size", "stream plus the projection")
    },
    sizes=sizes(
        "batch_size seq_len",
        """
        1x1 16x1 64x1 256x1 1x128 1x512 1x1531 4x1024 1x4096 2x4096 16x1024 8x2048
        """,
    ),
    tolerance=Tolerance(max_atol=0.01, max_rtol=0.01),
)

RMSNORM = ShippedTask(
    name="l1_rmsnorm",
    folder="L1",
    op_type="rmsnorm",
    hf_id="meta-llama/Llama-3.1-8B",
    computes="""
    Root-mean-square normalisation of bf16 rows with a gain, arithmetic in fp32 and one rounding.
    Widths: 4096 (Llama-3.1-8B), 2048 (Qwen3-30B-A3B), 8192 (Llama-3.3-70B), 7168 (DeepSeek-V3), 2880
    (gpt-oss-20b), 5120 (Qwen3-14B); from one row, a token being decoded, to 16,254.
    """,
    bound_by="memory bandwidth; launch for the small ones",
    tolerance_because="""
    Tolerance 0.001 + 0.01 |x|: rounding to bf16 before the gain matches all elements, fp8 at that place 0.40,
    a mean square of a quarter of the row 0.61, no gain 0.01.
    """,
    axes={"num_rows": var("tokens"), "width": var("elements a row")},
    inputs={
        "rows": tensor("bfloat16", "num_rows width", "one row a token"),
        "gain": tensor("bfloat16", "width", "factor of each column"),
        "eps": scalar("float32", "added to the mean square"),
    },
    outputs={"normed": tensor("bfloat16", "num_rows width", "normalised rows")},
    sizes=(
        *sizes(
            "num_rows width",
            """
        14418x4096 2048x4096 128x4096 16x4096 1x4096 8192x8192 1x8192 3000x2880 64x2880
        """,
            eps=1e-05,
        ),
        *sizes("num_rows width", "16254x2048 7x2048 4096x7168 64x7168 512x5120", eps=1e-06),
    ),
    tolerance=Tolerance(max_atol=0.001, max_rtol=0.01),
)

ROPE = ShippedTask(
    name="l1_rope",
    folder="L1",
    op_type="rope",
    hf_id="meta-llama/Llama-3.1-8B",
    computes="""
    Rotary embedding of bf16 queries and keys, token after token, from an fp32 table of cosines and
    sines; element i of a head is paired with element i + 64. Heads of 128: 32 with 8 (Llama-3.1-8B), 64
    with 8 (Llama-3.3-70B), 32 with 4 (Qwen3-30B-A3B).
    """,
    bound_by="memory bandwidth; launch for the small ones",
    tolerance_because="""
    Tolerance 0.0002 + 0.01 |x|: fp32 arithmetic in any order matches all elements, a table rounded to bf16
    0.980, the next position's angles 0.64; bf16 outputs need the relative part, cancellation the other.
    """,
    axes={
        "num_tokens": var("tokens of all sequences"),
        "num_q_heads": var("query heads"),
        "num_kv_heads": var("key heads"),
        "head_dim": const(128, "elements a head"),
        "table_rows": var("positions that the table covers"),
    },
    inputs={
        "queries": tensor("bfloat16", "num_tokens num_q_heads head_dim", "query heads before rotation"),
        "keys": tensor("bfloat16", "num_tokens num_kv_heads head_dim", "key heads before rotation"),
        "cos_sin_table": tensor(
            "float32", "table_rows head_dim", "64 cosines, then 64 sines, of each position"
        ),
        "positions": tensor("int64", "num_tokens", "row of the table for each token"),
    },
    outputs={
        "rotated_queries": tensor(
            "bfloat16", "num_tokens num_q_heads head_dim", "query heads after rotation"
        ),
        "rotated_keys": tensor("bfloat16", "num_tokens num_kv_heads head_dim", "key heads after rotation"),
    },
    custom=True,
    sizes=sizes(
        "num_tokens num_q_heads num_kv_heads table_rows",
        """
        1x32x8x8192 64x32x8x8192 512x32x8x8192 4096x32x8x8192 16384x32x8x32768 1x64x8x8192
        256x64x8x8192 8192x64x8x16384 16x32x4x8192 1999x32x4x8192 14107x32x4x32768
        """,
    ),
    tolerance=Tolerance(max_atol=0.0002, max_rtol=0.01),
)

SWIGLU = ShippedTask(
    name="l1_swiglu",
    folder="L1",
    op_type="swiglu",
    hf_id="meta-llama/Llama-3.1-8B",
    computes="""
    SwiGLU of the result of a fused gate-and-up projection: silu of the first half of a row times the
    second, arithmetic in fp32 and one rounding. Widths after it: 14336 (Llama-3.1-8B, Mixtral's
    experts), 28672 (Llama-3.3-70B), 18432 (DeepSeek-V3), 768 (an expert of Qwen3-30B-A3B), 18944
    (Qwen2.5-7B).
    """,
    bound_by="memory bandwidth; launch for the small ones",
    tolerance_because="""
    Tolerance 0.001 + 0.01 |x|: silu rounded to bf16 before the product matches all elements, gelu in its place
    0.12, fp8 at that place 0.50, no gate 0.01.
    """,
    axes={
        "num_rows": var("tokens"),
        "width": var("elements a row after the activation"),
        "double_width": expr("2 * width", "gate and up side by side"),
    },
    inputs={
        "gate_and_up": tensor("bfloat16", "num_rows double_width", "gate in the first half, up in the second")
    },
    outputs={"gated": tensor("bfloat16", "num_rows width", "silu of gate, times up")},
    sizes=sizes(
        "num_rows width",
        """
        4096x14336 1024x14336 64x14336 1x14336 2048x28672 8x28672 4096x18432 16x18432 32768x768
        257x768 1337x18944
        """,
    ),
    tolerance=Tolerance(max_atol=0.001, max_rtol=0.01),
)

L1 = (GEMM, PROJECTION, RMSNORM, ROPE, SWIGLU)
