"""FlashInfer: what an inference server calls, with its data structures."""

from scripts.shipped.assemble import ShippedTask, const, expr, scalar, sizes, tensor, var
from tasks.workload import Tolerance

_HEADS = {
    "num_q_heads": const(32, "query heads"),
    "num_kv_heads": const(4, "key-value heads"),
    "head_dim": const(128, "elements a head"),
}
_CACHE = {
    "table_size": expr(
        "(total_kv + batch_size * (page_size - 1)) // page_size",
        "entries of the page table, enough for any lengths of this total",
    ),
    "num_pages": expr("table_size + table_size // 4 + 1", "pages of the cache, some of them free"),
    "num_starts": expr("batch_size + 1", "one start a sequence, and the end"),
}
_PAGES = {
    "key_pages": tensor("bfloat16", "num_pages page_size num_kv_heads head_dim", "keys of all pages"),
    "value_pages": tensor("bfloat16", "num_pages page_size num_kv_heads head_dim", "values of all pages"),
}
_TABLE = {
    "page_starts": tensor("int32", "num_starts", "where each sequence begins in page_indices, and the end"),
    "page_indices": tensor(
        "int32", "table_size", "pages of one sequence after another; behind the end unused"
    ),
    "last_page_tokens": tensor("int32", "batch_size", "tokens in the last page of each sequence"),
    "score_scale": scalar("float32", "factor of query times key, one over the root of head_dim"),
}

PREFILL = ShippedTask(
    name="fi_paged_prefill",
    folder="FlashInfer",
    op_type="gqa_paged_prefill",
    hf_id="Qwen/Qwen3-30B-A3B",
    computes="""
    Causal grouped-query attention of chunks of new tokens over a paged cache that holds them and the
    tokens before them (a shared system prompt, earlier chunks), so that keys are longer than queries;
    output and log-sum-exp to base 2 (log2 of the sum of exp(score), scores scaled). Heads of
    Qwen3-30B-A3B: 32 query and 4 key-value heads of 128; pages of 1 and 16 tokens, in random order. A
    total that cannot be shared evenly is cut very unevenly: 7348 new tokens over six sequences are 37,
    901, 2222, 15, 4096 and 77.
    """,
    bound_by="matrix units for long chunks, launch and load balance for short and uneven ones",
    tolerance_because="""
    Tolerance 0.005 + 0.01 |x| for both outputs: attention weights in bf16 and scaled queries in bf16 match all
    elements; no causal mask matches 0.86 where 64 new tokens follow 4,096, keys and values rounded to fp8 0.79,
    the last 128 keys alone 0.12, a natural log-sum-exp none.
    """,
    axes={
        "batch_size": var("sequences"),
        "total_q": var("new tokens of all sequences"),
        "earlier_tokens": var("tokens before the new ones, of each sequence"),
        "page_size": var("tokens a page"),
        **_HEADS,
        "total_kv": expr("total_q + batch_size * earlier_tokens", "keys of all sequences"),
        **_CACHE,
    },
    inputs={
        "query": tensor("bfloat16", "total_q num_q_heads head_dim", "queries, one sequence after another"),
        **_PAGES,
        "query_starts": tensor("int32", "num_starts", "where each sequence begins in query, and the end"),
        **_TABLE,
    },
    outputs={
        "output": tensor("bfloat16", "total_q num_q_heads head_dim", "attended values"),
        "lse": tensor("float32", "total_q num_q_heads", "log-sum-exp of the scaled scores, to base 2"),
    },
    custom=True,
    sizes=sizes(
        "batch_size total_q earlier_tokens page_size",
        """
        8x4096x128x1 4x8192x128x1 1x8192x128x1 64x8192x128x1 6x7348x128x1 1x1x1023x1 1x2048x6144x1
        16x512x2048x1 8x4096x128x16 1x8192x128x16 6x7348x500x16 1x2048x14336x16
        """,
    ),
    tolerance=Tolerance(max_atol=0.005, max_rtol=0.01),
)

DECODE = ShippedTask(
    name="fi_paged_decode",
    folder="FlashInfer",
    op_type="gqa_paged_decode",
    hf_id="Qwen/Qwen3-30B-A3B",
    computes="""
    Grouped-query attention of one token a sequence over a paged cache that holds it and the tokens
    before it; output and log-sum-exp to base 2 (log2 of the sum of exp(score), scores scaled). Heads of
    Qwen3-30B-A3B: 32 query and 4 key-value heads of 128; pages of 1 and 16 tokens, in random order.
    Lengths with the current token: 1 x 4096, 16 x 4096 and 64 x 2048 among others; a total that cannot
    be shared evenly is cut very unevenly.
    """,
    bound_by="reading the cache once; launch and splitting for few sequences",
    tolerance_because="""
    Tolerance 0.005 + 0.01 |x| for both outputs: attention weights in bf16 and scaled queries in bf16 match all
    elements; keys and values rounded to fp8 0.77, an unread page table 0.12, the last 128 keys alone and a
    natural log-sum-exp none.
    """,
    axes={
        "batch_size": var("sequences, one query token each"),
        "earlier_tokens": var("tokens before the current ones, of all sequences together"),
        "page_size": var("tokens a page"),
        **_HEADS,
        "total_kv": expr("earlier_tokens + batch_size", "keys of all sequences"),
        **_CACHE,
    },
    inputs={
        "query": tensor("bfloat16", "batch_size num_q_heads head_dim", "one query a sequence"),
        **_PAGES,
        **_TABLE,
    },
    outputs={
        "output": tensor("bfloat16", "batch_size num_q_heads head_dim", "attended values"),
        "lse": tensor("float32", "batch_size num_q_heads", "log-sum-exp of the scaled scores, to base 2"),
    },
    custom=True,
    sizes=sizes(
        "batch_size earlier_tokens page_size",
        """
        1x4095x1 16x65520x1 64x131008x1 1x32767x1 6x7342x1 128x65408x1 45x30001x1 1x131071x16
        16x65520x16 64x131008x16 45x30001x16 256x130816x16
        """,
    ),
    tolerance=Tolerance(max_atol=0.005, max_rtol=0.01),
)

ADD_RMSNORM = ShippedTask(
    name="fi_fused_add_rmsnorm",
    folder="FlashInfer",
    op_type="fused_add_rmsnorm",
    hf_id="meta-llama/Llama-3.1-8B",
    computes="""
    Adds a branch to the residual stream in fp32; gives the sum in bf16 and the sum, before it is
    rounded, normalised by its root mean square with a gain. Widths: 4096 (Llama-3.1-8B), 2048
    (Qwen3-30B-A3B), 8192 (Llama-3.3-70B), 7168 (DeepSeek-V3), 2880 (gpt-oss-20b).
    """,
    bound_by="memory bandwidth; launch for the small ones",
    tolerance_because="""
    Tolerance 0.001 + 0.01 |x| for both outputs: a norm of the rounded sum, and rounding before the gain, match
    all elements; fp8 at that place 0.40, one of the two addends alone 0.01.
    """,
    axes={"num_rows": var("tokens"), "width": var("elements a row")},
    inputs={
        "branch": tensor("bfloat16", "num_rows width", "result of the last block"),
        "stream": tensor("bfloat16", "num_rows width", "residual stream"),
        "gain": tensor("bfloat16", "width", "factor of each column"),
        "eps": scalar("float32", "added to the mean square"),
    },
    outputs={
        "normed": tensor("bfloat16", "num_rows width", "normalised sum"),
        "new_stream": tensor("bfloat16", "num_rows width", "sum"),
    },
    sizes=(
        *sizes(
            "num_rows width",
            """
        14418x4096 2048x4096 128x4096 1x4096 8192x8192 32x8192 3000x2880 5x2880
        """,
            eps=1e-05,
        ),
        *sizes("num_rows width", "16254x2048 64x2048 4096x7168 1x7168", eps=1e-06),
    ),
    tolerance=Tolerance(max_atol=0.001, max_rtol=0.01),
)

MOE_FP8 = ShippedTask(
    name="fi_moe_fp8",
    folder="FlashInfer",
    op_type="moe_fp8_block_scale",
    hf_id="inclusionAI/Ling-mini-2.0",
    computes="""
    Expert layer as one of eight expert-parallel ranks computes it: DeepSeek-style routing over 256
    experts (sigmoid affinities, a correction that sways the choice but not the weight, the best 4 of 8
    groups by the sum of their best two, the best 8 experts, weights made to sum to 2.5), then this
    rank's 32 SwiGLU experts on the tokens sent to them, e4m3 with a scale every 128 elements for tokens
    and every 128 x 128 for weights. Sizes of Ling-mini-2.0: width 2048, experts of 512. The
    intermediate stays in fp32 in the reference.
    """,
    bound_by="reading the experts for few tokens, ragged fp8 products for many",
    tolerance_because="""
    Tolerance 0.03 + 0.03 |x|: what goes between an expert's two products may be e4m3 with a scale every 128
    elements, as served kernels keep it, and matches all elements; no limit to groups 0.89, no correction 0.73,
    weights that do not sum 0.01, zeros 0.07.
    """,
    axes={
        "num_tokens": var("tokens of all sequences"),
        "num_local_experts": var("experts on this rank"),
        "num_experts": expr("8 * num_local_experts", "experts of the layer, on eight ranks"),
        "hidden_size": const(2048, "width of a token"),
        "inner_size": const(512, "width inside an expert"),
        "double_inner": expr("2 * inner_size", "gate rows, then up rows"),
        "hidden_blocks": expr("hidden_size // 128", "blocks of a token"),
        "inner_blocks": expr("inner_size // 128", "blocks inside an expert"),
        "double_inner_blocks": expr("double_inner // 128", "blocks of gate and up rows"),
    },
    inputs={
        "router_logits": tensor("float32", "num_tokens num_experts", "router's score of each expert"),
        "router_correction": tensor("bfloat16", "num_experts", "added to affinities for the choice alone"),
        "token_fp8": tensor(
            "float8_e4m3fn", "num_tokens hidden_size", "tokens, divided by their block's scale"
        ),
        "token_scale": tensor("float32", "num_tokens hidden_blocks", "scale of each 1 x 128 block"),
        "gate_up_fp8": tensor("float8_e4m3fn", "num_local_experts double_inner hidden_size", "gate above up"),
        "gate_up_scale": tensor(
            "float32", "num_local_experts double_inner_blocks hidden_blocks", "scale of each 128 x 128 block"
        ),
        "down_fp8": tensor("float8_e4m3fn", "num_local_experts hidden_size inner_size", "projection back"),
        "down_scale": tensor(
            "float32", "num_local_experts hidden_blocks inner_blocks", "scale of each 128 x 128 block"
        ),
        "first_local_expert": scalar("int32", "number of this rank's first expert"),
        "routed_scale": scalar("float32", "what a token's weights sum to"),
    },
    outputs={
        "output": tensor("bfloat16", "num_tokens hidden_size", "this rank's share of the layer's result")
    },
    custom=True,
    sizes=sizes(
        "num_tokens num_local_experts",
        "1x32 7x32 32x32 64x32 256x32 901x32 2048x32 4096x32 8192x32 14107x32",
    ),
    tolerance=Tolerance(max_atol=0.03, max_rtol=0.03),
)

FLASHINFER = (PREFILL, DECODE, ADD_RMSNORM, MOE_FP8)
