"""Quantization: operands in fp8 and NVFP4 with block scales; no reference needs hardware for either."""

from scripts.shipped.assemble import ShippedTask, const, expr, scalar, sizes, tensor, var
from tasks.definition import TensorSpec
from tasks.workload import Tolerance

FP8_LINEAR = ShippedTask(
    name="quant_fp8_linear",
    folder="Quantization",
    op_type="fp8_block_scaled_gemm",
    hf_id="Qwen/Qwen3-8B-FP8",
    computes="""
    Linear layer of e4m3 tokens (a scale every 128 elements) and e4m3 weights (a scale every 128 x 128),
    output in bf16. Layers of Qwen3-8B-FP8 (query-key-value 6144 x 4096, output 4096 x 4096, gate-and-up
    24576 x 4096, down 4096 x 12288) and DeepSeek-V3 (output 7168 x 16384, query 24576 x 1536, shared
    expert 4096 x 7168 and 7168 x 2048).
    """,
    bound_by="fp8 matrix units for many tokens, reading the weight for few",
    tolerance_because="""
    Tolerance 0.01 + 0.01 |x|: operands given back their values in bf16 or TF32, or products of stored values
    scaled block after block, match all elements; operands quantised a second time, with a scale a row, 0.37,
    one scale for the whole weight 0.23.
    """,
    axes={
        "num_tokens": var("tokens of all sequences"),
        "out_blocks": var("blocks of 128 features out"),
        "in_blocks": var("blocks of 128 features in"),
        "out_features": expr("out_blocks * 128", "features out"),
        "in_features": expr("in_blocks * 128", "features in"),
    },
    inputs={
        "token_fp8": tensor(
            "float8_e4m3fn", "num_tokens in_features", "tokens, each divided by its block's scale"
        ),
        "token_scale": tensor("float32", "num_tokens in_blocks", "scale of each 1 x 128 block"),
        "weight_fp8": tensor(
            "float8_e4m3fn", "out_features in_features", "weight, divided by its block's scale"
        ),
        "weight_scale": tensor("float32", "out_blocks in_blocks", "scale of each 128 x 128 block"),
    },
    outputs={"product": tensor("bfloat16", "num_tokens out_features", "tokens times the weight transposed")},
    custom=True,
    sizes=sizes(
        "num_tokens out_blocks in_blocks",
        """
        1x48x32 64x48x32 2048x48x32 512x32x32 4096x32x32 16x192x32 4096x192x32 128x32x96 4096x32x96
        32x56x128 2048x56x128 1024x192x12 4096x32x56 777x56x16
        """,
    ),
    tolerance=Tolerance(max_atol=0.01, max_rtol=0.01),
)


def nvfp4(name: str, shape: str, what: str) -> dict[str, TensorSpec]:
    """The three inputs that make one NVFP4 tensor; `shape` without its quantised last axis, which is `in`."""
    lead, last = shape.rsplit(" ", 1)
    return {
        f"{name}_fp4": tensor("float4_e2m1fn_x2", f"{lead} {last}_packed", f"{what}, two e2m1 values a byte"),
        f"{name}_scale": tensor("float8_e4m3fn", f"{lead} {last}_blocks", "scale of each 16 values"),
        f"{name}_global_scale": scalar("float32", "scale of the whole tensor"),
    }


NVFP4_LINEAR = ShippedTask(
    name="quant_nvfp4_linear",
    folder="Quantization",
    op_type="nvfp4_gemm",
    hf_id="nvidia/Llama-3.1-8B-Instruct-FP4",
    computes="""
    Linear layer of NVFP4 tokens and weights: e2m1 values, two a byte with the even one in the low
    nibble, an e4m3 scale every 16 and one fp32 scale a tensor; output in bf16. Layers of Llama-3.1-8B
    (query-key-value 6144 x 4096, output 4096 x 4096, gate-and-up 28672 x 4096, down 4096 x 14336) and
    Llama-3.3-70B (output 8192 x 8192, down 8192 x 28672).
    """,
    bound_by="matrix units for many tokens, reading the weight for few",
    tolerance_because="""
    Tolerance 0.005 + 0.01 |x|: a value times its block's scale is exact in bf16, so bf16 products match all
    elements; scales rounded to powers of two 0.04, swapped nibbles 0.01, operands rounded to fp8 0.24.
    """,
    axes={
        "num_tokens": var("tokens of all sequences"),
        "out_features": var("features out"),
        "in_blocks": var("blocks of 16 features in"),
        "in_packed": expr("in_blocks * 8", "bytes of a row"),
    },
    inputs={
        **nvfp4("token", "num_tokens in", "tokens"),
        **nvfp4("weight", "out_features in", "weight, a row a feature out"),
    },
    outputs={"product": tensor("bfloat16", "num_tokens out_features", "tokens times the weight transposed")},
    custom=True,
    sizes=sizes(
        "num_tokens out_features in_blocks",
        """
        1x6144x256 64x6144x256 2048x6144x256 128x4096x256 4096x4096x256 16x28672x256 4096x28672x256
        8x4096x896 2048x4096x896 32x8192x512 4096x8192x512 1x8192x1792 1000x8192x1792
        """,
    ),
    tolerance=Tolerance(max_atol=0.005, max_rtol=0.01),
)

_CACHE = "batch_size cached_tokens num_kv_heads head"

NVFP4_GQA = ShippedTask(
    name="quant_nvfp4_gqa",
    folder="Quantization",
    op_type="nvfp4_gqa",
    hf_id="CohereLabs/c4ai-command-r7b-12-2024",
    computes="""
    A few new tokens attend to a long NVFP4 cache: their queries, keys and values come from NVFP4 tokens
    and an NVFP4 weight, rounded to bf16, and each attends to the whole cache of its sequence and
    causally to the new ones. Sizes of the global layers of Command R7B, which have no rotary embedding:
    width 4096, 32 query heads and 8 key-value heads of 128. One token is decoding, four are
    speculation, more a short chunk. e2m1 values are packed two a byte with the even one in the low
    nibble, with an e4m3 scale every 16 and one fp32 scale a tensor.
    """,
    bound_by="reading weight and cache once",
    tolerance_because="""
    Tolerance 0.015 + 0.02 |x|: bf16 products and attention weights match all elements, heads kept in fp32
    0.9996; with 32,768 cached tokens an answer without the new token matches 0.86, one without the 128 oldest
    of the cache 0.97.
    """,
    axes={
        "batch_size": var("sequences"),
        "new_tokens": var("tokens a sequence that are projected now"),
        "cached_tokens": var("tokens a sequence that lie in the cache"),
        "num_q_heads": const(32, "query heads"),
        "num_kv_heads": const(8, "key-value heads"),
        "head_dim": const(128, "elements a head"),
        "hidden_size": const(4096, "width of a token"),
        "hidden_packed": expr("hidden_size // 2", "bytes of a token"),
        "hidden_blocks": expr("hidden_size // 16", "scales of a token"),
        "head_packed": expr("head_dim // 2", "bytes of a head"),
        "head_blocks": expr("head_dim // 16", "scales of a head"),
        "query_width": expr("num_q_heads * head_dim", "query heads side by side"),
        "projected": expr("(num_q_heads + 2 * num_kv_heads) * head_dim", "query, key and value heads"),
    },
    inputs={
        **nvfp4("token", "batch_size new_tokens hidden", "new tokens"),
        **nvfp4("weight", "projected hidden", "rows for query heads, then key heads, then value heads"),
        **nvfp4("key_cache", _CACHE, "keys of earlier tokens"),
        **nvfp4("value_cache", _CACHE, "values of earlier tokens"),
    },
    outputs={"attended": tensor("bfloat16", "batch_size new_tokens query_width", "query heads side by side")},
    custom=True,
    sizes=sizes(
        "batch_size new_tokens cached_tokens",
        """
        1x1x4096 1x1x32768 4x1x8192 16x1x4096 64x1x2048 1x4x8192 8x4x4096 16x4x1000 1x16x4096
        2x32x4096
        """,
    ),
    tolerance=Tolerance(max_atol=0.015, max_rtol=0.02),
)

QUANTIZATION = (FP8_LINEAR, NVFP4_GQA, NVFP4_LINEAR)
