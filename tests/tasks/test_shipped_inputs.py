"""What `get_inputs` of the shipped references makes: structures that hold at any size."""

import math

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from scripts.shipped import SHIPPED
from tasks.inputs import InputGenerator, load_reference

BY_NAME = {task.name: task for task in SHIPPED}


def inputs_of(name: str, **axes: int) -> dict:
    task = BY_NAME[name]
    definition = task.definition()
    workload = task.workloads()[0].model_copy(update={"axes": axes})
    made = InputGenerator(definition, workload).make(seed=11)
    shapes = definition.input_shapes(axes)
    assert [getattr(value, "shape", None) for value in made] == [s and torch.Size(s) for s in shapes.values()]
    return dict(zip(definition.inputs, made, strict=True))


def lengths_of(made: dict, page_size: int) -> list[int]:
    counts = made["page_starts"].diff().tolist()
    return [
        (count - 1) * page_size + last if count else 0
        for count, last in zip(counts, made["last_page_tokens"].tolist(), strict=True)
    ]


@settings(max_examples=40, deadline=None)
@given(st.integers(1, 9), st.integers(1, 90), st.integers(1, 40), st.integers(1, 5))
def test_pages_of_a_prefill_hold_every_token_once_whatever_the_sizes(batch, total_q, earlier, page_size):
    made = inputs_of(
        "fi_paged_prefill", batch_size=batch, total_q=total_q, earlier_tokens=earlier, page_size=page_size
    )
    new = made["query_starts"].diff().tolist()
    assert sum(new) == total_q and min(new) >= 0
    assert lengths_of(made, page_size) == [count + earlier for count in new]
    used = made["page_indices"][: made["page_starts"][-1]]
    assert len(used.unique()) == len(used)
    assert bool(((made["page_indices"] >= 0) & (made["page_indices"] < len(made["key_pages"]))).all())


@settings(max_examples=40, deadline=None)
@given(st.integers(1, 9), st.integers(0, 120), st.integers(1, 5))
def test_pages_of_a_decode_hold_every_token_once_whatever_the_sizes(batch, earlier, page_size):
    made = inputs_of("fi_paged_decode", batch_size=batch, earlier_tokens=earlier, page_size=page_size)
    lengths = lengths_of(made, page_size)
    assert sum(lengths) == earlier + batch and min(lengths) >= 1
    assert int(made["last_page_tokens"].max()) <= page_size
    used = made["page_indices"][: made["page_starts"][-1]]
    assert len(used.unique()) == len(used)


def test_an_uneven_batch_has_the_lengths_that_its_description_names():
    share = load_reference(BY_NAME["fi_paged_prefill"].definition()).module.share
    assert share(7348, 6) == [37, 901, 2222, 15, 4096, 77]
    assert share(4096, 8) == [512] * 8


def test_a_prefill_s_keys_are_longer_than_its_queries_in_every_workload():
    for workload in BY_NAME["fi_paged_prefill"].workloads():
        assert workload.axes["earlier_tokens"] > 0


def test_sixteen_codes_of_nvfp4_are_all_drawn_and_their_values_have_the_wanted_spread():
    made = inputs_of("quant_nvfp4_linear", num_tokens=64, out_features=256, in_blocks=32)
    bytes_ = made["weight_fp4"].view(torch.uint8)
    assert (bytes_ & 15).unique().numel() == (bytes_ >> 4).unique().numel() == 16
    dequantise = load_reference(BY_NAME["quant_nvfp4_linear"].definition()).module.dequantise
    weight = dequantise(made["weight_fp4"], made["weight_scale"], made["weight_global_scale"])
    assert float(weight.std()) == pytest.approx((32 * 16) ** -0.5, rel=0.05)


def test_the_even_value_of_a_byte_is_in_its_low_nibble():
    dequantise = load_reference(BY_NAME["quant_nvfp4_linear"].definition()).module.dequantise
    packed = torch.full((1, 8), 0x91, dtype=torch.uint8).view(torch.float4_e2m1fn_x2)
    values = dequantise(packed, torch.ones(1, 1).to(torch.float8_e4m3fn), 2.0)
    assert values[0, :4].tolist() == [1.0, -1.0, 1.0, -1.0]
    packed = torch.full((1, 8), 0x27, dtype=torch.uint8).view(torch.float4_e2m1fn_x2)
    assert dequantise(packed, torch.ones(1, 1).to(torch.float8_e4m3fn), 1.0)[0, :2].tolist() == [6.0, 1.0]


def test_every_token_of_the_expert_layer_meets_an_expert_of_this_rank():
    made = inputs_of("fi_moe_fp8", num_tokens=64, num_local_experts=8)
    route = load_reference(BY_NAME["fi_moe_fp8"].definition()).module.route
    expert, weight = route(made["router_logits"], made["router_correction"], made["routed_scale"])
    first = made["first_local_expert"]
    assert bool(((expert >= first) & (expert < first + 8)).any(dim=1).all())
    assert torch.allclose(weight.sum(dim=1), torch.tensor(2.5))


def test_a_rank_of_one_expert_still_routes():
    inputs_of("fi_moe_fp8", num_tokens=3, num_local_experts=1)
    definition = BY_NAME["fi_moe_fp8"].definition()
    made = inputs_of("fi_moe_fp8", num_tokens=3, num_local_experts=1)
    assert torch.isfinite(load_reference(definition).run(*made.values()).float()).all()


@pytest.mark.parametrize("experts", [3, 8, 11])
def test_slots_of_the_backward_pass_name_experts_that_exist_and_weigh_as_much_as_stated(experts):
    made = inputs_of("l2_moe_backward", num_tokens=20, num_experts=experts, inner_size=8)
    slots = made["expert_of_slot"]
    assert slots.shape == (20, 8) and int(slots.min()) >= 0 and int(slots.max()) < experts
    assert torch.allclose(made["slot_weight"].sum(dim=1), torch.tensor(2.5))
    distinct = min(experts, 8)
    assert all(len(row.unique()) == distinct for row in slots)


def test_the_rotary_table_holds_unit_vectors_and_positions_follow_each_other():
    made = inputs_of("l1_rope", num_tokens=9, num_q_heads=2, num_kv_heads=1, table_rows=64)
    cos, sin = made["cos_sin_table"].chunk(2, dim=1)
    assert torch.allclose(cos.square() + sin.square(), torch.ones_like(cos), atol=1e-6)
    assert float(sin[1, 0]) == pytest.approx(math.sin(1.0), abs=1e-6)
    assert ((made["positions"].diff() - 1) % 64 == 0).all()
