"""L2: blocks of a model in bf16."""

from scripts.shipped.assemble import ShippedTask, const, sizes, tensor, var
from tasks.workload import Tolerance

DECODER = ShippedTask(
    name="l2_decoder",
    folder="L2",
    op_type="decoder_layer",
    hf_id="meta-llama/Llama-3.2-1B",
    computes="""
    One decoder layer with the sizes of Llama-3.2-1B: width 2048, 32 query heads and 8 key-value heads
    of 64, MLP of 8192, in bf16. Normalise, rotate queries and keys by position (base 500000, without
    the model's frequency scaling), causal attention, project and add; normalise, SwiGLU MLP, add.
    """,
    bound_by="matrix units; the eager reference by traffic of the score matrix from about 2,048 tokens on",
    tolerance_because="""
    Tolerance 0.02 + 0.01 |x|: fp32 between all steps, bf16 between all steps and split-K in bf16 match all
    elements; at 2,048 tokens a layer without attention matches 0.29, without causality 0.50, without rotation
    0.32, without its MLP 0.04, with fp8 operands 0.53.
    """,
    axes={
        "batch_size": var("sequences"),
        "seq_len": var("tokens a sequence, positions 0 onwards"),
        "hidden_size": const(2048, "width of the residual stream"),
        "query_width": const(2048, "32 heads of 64"),
        "kv_width": const(512, "8 heads of 64"),
        "inner_size": const(8192, "width inside the MLP"),
    },
    inputs={
        "stream": tensor("bfloat16", "batch_size seq_len hidden_size", "residual stream coming in"),
        "attention_gain": tensor("bfloat16", "hidden_size", "gain of the norm before attention"),
        "query_weight": tensor("bfloat16", "query_width hidden_size", "query projection"),
        "key_weight": tensor("bfloat16", "kv_width hidden_size", "key projection"),
        "value_weight": tensor("bfloat16", "kv_width hidden_size", "value projection"),
        "mix_weight": tensor("bfloat16", "hidden_size query_width", "projection of attention's heads"),
        "mlp_gain": tensor("bfloat16", "hidden_size", "gain of the norm before the MLP"),
        "gate_weight": tensor("bfloat16", "inner_size hidden_size", "projection that is activated"),
        "up_weight": tensor("bfloat16", "inner_size hidden_size", "projection that is gated"),
        "down_weight": tensor("bfloat16", "hidden_size inner_size", "projection back to the stream"),
    },
    outputs={"new_stream": tensor("bfloat16", "batch_size seq_len hidden_size", "residual stream going out")},
    sizes=sizes("batch_size seq_len", "1x128 4x128 1x512 2x777 1x2048 4x1024 2x4096 1x8192"),
    tolerance=Tolerance(max_atol=0.02, max_rtol=0.01),
)

MLP_BLOCK = ShippedTask(
    name="l2_mlp_block",
    folder="L2",
    op_type="mlp_block",
    hf_id="Qwen/Qwen3-1.7B",
    computes="""
    The MLP half of a decoder layer with the sizes of Qwen3-1.7B (width 2048, inside 6144), in bf16:
    normalise, SwiGLU MLP, add to the residual stream.
    """,
    bound_by="matrix units from about 512 tokens on, reading the weights below",
    tolerance_because="""
    Tolerance 0.01 + 0.01 |x|: fp32 between all steps matches all elements, split-K in bf16 0.9997; fp8
    operands 0.37, no norm 0.75, the stream as it is 0.02.
    """,
    axes={
        "num_tokens": var("tokens of all sequences"),
        "hidden_size": const(2048, "width of the residual stream"),
        "inner_size": const(6144, "width inside the MLP"),
    },
    inputs={
        "stream": tensor("bfloat16", "num_tokens hidden_size", "residual stream coming in"),
        "gain": tensor("bfloat16", "hidden_size", "gain of the norm"),
        "gate_weight": tensor("bfloat16", "inner_size hidden_size", "projection that is activated"),
        "up_weight": tensor("bfloat16", "inner_size hidden_size", "projection that is gated"),
        "down_weight": tensor("bfloat16", "hidden_size inner_size", "projection back to the stream"),
    },
    outputs={"new_stream": tensor("bfloat16", "num_tokens hidden_size", "residual stream going out")},
    sizes=sizes("num_tokens", "1 16 64 128 512 1000 2048 4096 8192 16384"),
    tolerance=Tolerance(max_atol=0.01, max_rtol=0.01),
)

_MATRIX = "num_experts inner_size hidden_size"
_DOWN = "num_experts hidden_size inner_size"

MOE_BACKWARD = ShippedTask(
    name="l2_moe_backward",
    folder="L2",
    op_type="moe_backward",
    hf_id="allenai/OLMoE-1B-7B-0924",
    computes="""
    Backward pass of a layer of SwiGLU experts in bf16, eight of them a token: gradients of tokens, of
    the routing weights and of every expert's three matrices, from the gradient of the layer's output.
    Width 2048, with 64 experts of 1024 (OLMoE-1B-7B), 128 of 768 (Qwen3-30B-A3B) and 256 of 512 (Ling-
    mini-2.0). Operands of matrix products are bf16, what lies between is fp32; some experts draw
    several times as many tokens as others.
    """,
    bound_by="matrix units of ragged products; below about 1,000 tokens traffic of the experts",
    tolerance_because="""
    Tolerance 0.06 + 0.02 |x|, one for all outputs and set by the gradient of the routing weights, a sum over
    2,048 elements with std 6: fp32 throughout matches 0.9998 of the elements or more, seven slots of eight 0.74,
    the sigmoid taken for a constant 0.53, no routing weights 0.05, fp8 operands 0.29 (each by its worst output).
    """,
    axes={
        "num_tokens": var("tokens of all sequences"),
        "num_experts": var("experts of the layer"),
        "slots_per_token": const(8, "experts that a token is sent to"),
        "hidden_size": const(2048, "width of a token"),
        "inner_size": var("width inside an expert"),
    },
    inputs={
        "upstream": tensor("bfloat16", "num_tokens hidden_size", "gradient of the layer's result"),
        "tokens": tensor("bfloat16", "num_tokens hidden_size", "what the layer was given"),
        "expert_of_slot": tensor("int32", "num_tokens slots_per_token", "expert of each slot"),
        "slot_weight": tensor("float32", "num_tokens slots_per_token", "routing weight of each slot"),
        "gate": tensor("bfloat16", _MATRIX, "projections that are activated"),
        "up": tensor("bfloat16", _MATRIX, "projections that are gated"),
        "down": tensor("bfloat16", _DOWN, "projections back to the token's width"),
    },
    outputs={
        "grad_tokens": tensor("bfloat16", "num_tokens hidden_size", "gradient of tokens"),
        "grad_slot_weight": tensor("float32", "num_tokens slots_per_token", "gradient of slot_weight"),
        "grad_gate": tensor("bfloat16", _MATRIX, "gradient of gate, zero where no token came"),
        "grad_up": tensor("bfloat16", _MATRIX, "gradient of up, zero where no token came"),
        "grad_down": tensor("bfloat16", _DOWN, "gradient of down, zero where no token came"),
    },
    custom=True,
    sizes=sizes(
        "num_tokens num_experts inner_size",
        """
        256x64x1024 1024x64x1024 4096x64x1024 8192x64x1024 512x128x768 2048x128x768 4096x128x768
        8192x128x768 1024x256x512 5000x256x512
        """,
    ),
    tolerance=Tolerance(max_atol=0.06, max_rtol=0.02),
)

L2 = (DECODER, MOE_BACKWARD, MLP_BLOCK)
