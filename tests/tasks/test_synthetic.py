"""Stand-ins for recorded inputs that are missing."""

from typing import Any

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from tasks.errors import TaskError
from tasks.inputs import InputGenerator
from tasks.inputs_synthetic import split
from tasks.synthetic import mark_synthetic
from tests.fakes.definitions import definition, recorded, task, workload

PREFILL = definition(
    {
        "q": "bfloat16 total_q heads dim", "k_cache": "bfloat16 num_pages page_size heads dim",
        "qo_indptr": "int32 len_indptr", "kv_indptr": "int32 len_indptr", "kv_indices": "int32 num_kv_indices",
        "kv_last_page_len": "int32 sequences",
    },
    {
        "total_q": None, "num_pages": None, "len_indptr": None, "num_kv_indices": None, "heads": 2, "dim": 4,
        "page_size": 16, "sequences": "len_indptr - 1",
    },
)  # fmt: skip
MISSING = {name: recorded(name) for name in ("qo_indptr", "kv_indptr", "kv_indices", "kv_last_page_len")}


def made(of: Any, axes: dict[str, int], *names: str) -> dict[str, torch.Tensor]:
    missing = {name: recorded(name) for name in names}
    values = InputGenerator(of, workload(axes, **missing)).make(1)
    named = dict(zip(of.inputs, values, strict=True))
    return {name: value for name in names if isinstance(value := named[name], torch.Tensor)}


@settings(max_examples=60, deadline=None)
@given(
    sequences=st.integers(1, 20),
    queries=st.integers(0, 200),
    pages=st.integers(1, 300),
    spare=st.integers(0, 50),
)
def test_paged_attention_gets_pointers_and_pages_that_are_valid(
    sequences: int, queries: int, pages: int, spare: int
) -> None:
    axes = {
        "total_q": queries,
        "num_kv_indices": pages,
        "num_pages": pages + spare,
        "len_indptr": sequences + 1,
    }
    values = made(PREFILL, axes, *MISSING)
    for name, end in (("qo_indptr", queries), ("kv_indptr", pages)):
        pointer = values[name].tolist()
        assert pointer[0] == 0
        assert pointer[-1] == end
        assert pointer == sorted(pointer)
        assert len(pointer) == sequences + 1
    chosen = values["kv_indices"].tolist()
    assert len(set(chosen)) == pages
    assert set(chosen) <= set(range(pages + spare))
    assert all(1 <= length <= 16 for length in values["kv_last_page_len"].tolist())
    assert all(value.dtype is torch.int32 for value in values.values())


def test_every_sequence_has_at_least_as_many_keys_as_queries_when_there_are_enough() -> None:
    axes = {"total_q": 100, "num_kv_indices": 20, "num_pages": 40, "len_indptr": 5}
    values = made(PREFILL, axes, "qo_indptr", "kv_indptr")
    queries, pages = (values[name].diff() for name in ("qo_indptr", "kv_indptr"))
    assert bool((pages * 16 >= queries).all())
    assert len(set(queries.tolist())) > 1


@settings(max_examples=80, deadline=None)
@given(total=st.integers(0, 1000), parts=st.integers(0, 40), seed=st.integers(0, 1000))
def test_a_split_adds_up_and_leaves_nobody_empty_when_it_can(total: int, parts: int, seed: int) -> None:
    torch.manual_seed(seed)
    counts = split(total, parts)
    assert len(counts) == parts
    assert int(counts.sum()) == (total if parts else 0)
    assert bool((counts >= (1 if parts <= total else 0)).all())


def test_more_indices_than_pages_are_drawn_with_repetition() -> None:
    axes = {"total_q": 1, "num_kv_indices": 30, "num_pages": 4, "len_indptr": 2}
    chosen = made(PREFILL, axes, "kv_indices")["kv_indices"]
    assert set(chosen.tolist()) <= set(range(4))


def test_routing_indices_differ_within_a_token_and_are_experts() -> None:
    of = definition({"topk_ids": "int64 t k", "x": "float32 t"}, {"t": None, "k": 4, "num_experts": 6})
    ids = made(of, {"t": 50}, "topk_ids")["topk_ids"]
    assert ids.shape == (50, 4)
    assert all(len(set(row)) == 4 and set(row) <= set(range(6)) for row in ids.tolist())


def test_block_tables_and_lengths_stay_within_the_cache() -> None:
    of = definition(
        {
            "kv_cache": "float16 num_blocks block_size d",
            "block_table": "int32 b width",
            "seq_lens": "int32 b",
        },
        {"b": None, "num_blocks": None, "block_size": 8, "d": 4, "width": 3, "max_seq_len": 24},
    )
    values = made(of, {"b": 5, "num_blocks": 40}, "block_table", "seq_lens")
    table = values["block_table"].reshape(-1).tolist()
    assert len(set(table)) == 15
    assert set(table) <= set(range(40))
    assert all(1 <= length <= 24 for length in values["seq_lens"].tolist())


def test_floating_recordings_are_drawn_by_the_random_rules() -> None:
    of = definition(
        {"routing_logits": "float32 t e", "routing_bias": "bfloat16 e", "q_norm_weight": "float32 e"},
        {"t": None, "e": 64},
    )
    values = made(of, {"t": 100}, "routing_logits", "routing_bias", "q_norm_weight")
    assert 0.9 < float(values["routing_logits"].std()) < 1.1
    assert float(values["routing_bias"].float().std()) < 0.2
    assert values["q_norm_weight"].unique().tolist() == [1.0]


def test_stand_ins_stay_the_same_as_a_recording_would_and_differ_in_variation() -> None:
    axes = {"total_q": 40, "num_kv_indices": 50, "num_pages": 500, "len_indptr": 5}
    generator = InputGenerator(PREFILL, workload(axes, **MISSING))
    first, second, varied = generator.make(1), generator.make(2), generator.vary(3)
    pages = [values[4] for values in (first, second, varied)]
    assert all(isinstance(page, torch.Tensor) for page in pages)
    assert torch.equal(pages[0], pages[1])  # type: ignore[arg-type]
    assert not torch.equal(pages[0], pages[2])  # type: ignore[arg-type]


def test_stand_ins_do_not_move_the_official_stream() -> None:
    axes = {"total_q": 2, "num_kv_indices": 5, "num_pages": 8, "len_indptr": 2}
    torch.manual_seed(0)
    expected = torch.randn(2, 2, 4, dtype=torch.bfloat16)
    torch.manual_seed(0)
    values = InputGenerator(PREFILL, workload(axes, **MISSING)).make()
    assert isinstance(values[0], torch.Tensor)
    assert torch.equal(values[0], expected)


def test_an_integer_whose_meaning_is_unknown_is_not_made_up() -> None:
    of = definition({"opcode_table": "int32 n"}, {"n": None})
    with pytest.raises(TaskError, match="its structure is unknown") as raised:
        made(of, {"n": 4}, "opcode_table")
    assert raised.value.field == "opcode_table"


def test_a_task_with_missing_recordings_is_marked_once() -> None:
    axes = {"total_q": 2, "num_kv_indices": 5, "num_pages": 8, "len_indptr": 2}
    marked = mark_synthetic(task(PREFILL, [axes], **MISSING))
    assert marked.marks == ("synthetic-inputs",)
    assert mark_synthetic(marked) is marked
    complete = task(PREFILL, [axes])
    assert mark_synthetic(complete) is complete
