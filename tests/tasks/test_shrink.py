"""Workloads scaled down, their structure kept."""

import uuid
from pathlib import Path

import pytest

import tasks
from tasks.effort import Effort
from tasks.inputs import InputGenerator, load_reference
from tasks.shrink import SMALLER_CONSTANTS, CannotShrink, planned_bytes, shrink
from tasks.shrink_budget import ShrinkBudget
from tasks.task import Task
from tests.fakes.definitions import definition, recorded, task

PLENTY = ShrinkBudget(memory_bytes=1 << 40, operations=1 << 60)
GEMM = definition(
    {"x": "float32 b s k", "w": "float32 n k"}, {"b": None, "s": None, "k": 256, "n": 512},
    outputs={"y": "float32 b s n"}, reference="def run(x, w):\n    return x @ w.T\n",
)  # fmt: skip


def test_a_task_that_fits_is_returned_as_it_is() -> None:
    asked = task(GEMM, [{"b": 2, "s": 128}, {"b": 1, "s": 7}])
    assert shrink(asked, PLENTY) is asked


def test_what_fits_is_left_alone_and_what_does_not_is_named_anew() -> None:
    asked = task(GEMM, [{"b": 1, "s": 128}, {"b": 64, "s": 8192}])
    shrunk = shrink(asked, ShrinkBudget(memory_bytes=8 << 20, operations=1 << 60))
    small, scaled = shrunk.workloads
    assert small == asked.workloads[0]
    assert shrunk.originals == {scaled.uuid: "w1"}
    assert uuid.UUID(scaled.uuid).version == 5
    assert shrunk.marks == ("shrunk",)
    assert planned_bytes(Effort(GEMM), scaled.axes) <= 8 << 20
    assert scaled.axes["s"] % 128 == 0
    assert shrink(asked, ShrinkBudget(memory_bytes=8 << 20, operations=1 << 60)) == shrunk


def test_sizes_keep_their_alignment_and_odd_ones_stay_odd() -> None:
    asked = task(GEMM, [{"b": 1, "s": 8192}, {"b": 1, "s": 8208}, {"b": 1, "s": 8191}])
    aligned, by_sixteen, odd = (
        w.axes["s"] for w in shrink(asked, ShrinkBudget(memory_bytes=5 << 20, operations=1 << 60)).workloads
    )
    assert aligned % 128 == 0
    assert by_sixteen % 16 == 0
    assert by_sixteen % 128 != 0
    assert odd % 2 == 1
    assert 1 < odd < 8191


ROWS = definition(
    {"x": "float32 rows width", "w": "float32 width"}, {"rows": None, "width": None},
    outputs={"y": "float32 rows width"}, reference="def run(x, w):\n    return x * w\n",
)  # fmt: skip


def test_widths_of_a_model_stay_where_rows_alone_can_be_made_few() -> None:
    asked = task(
        ROWS, [{"rows": 8192, "width": 4096}, {"rows": 14418, "width": 4096}, {"rows": 1, "width": 7}]
    )
    budget = ShrinkBudget(memory_bytes=1 << 40, operations=1_000_000, structural_operations=10**9)
    aligned, ragged, small = (w.axes for w in shrink(asked, budget).workloads)
    assert aligned == {"rows": 32, "width": 4096} and small == {"rows": 1, "width": 7}
    assert ragged["width"] == 4096 and 1 < ragged["rows"] < 128 and ragged["rows"] % 16
    (narrow, *_) = shrink(asked, budget.model_copy(update={"structural_operations": 10**6})).workloads
    assert narrow.axes["width"] < 4096


def test_the_width_of_a_picture_is_no_width_of_a_model() -> None:
    picture = definition(
        {"x": "float32 height width"}, {"height": None, "width": None},
        outputs={"y": "float32 height width"}, reference="def run(x):\n    return x\n",
    )  # fmt: skip
    asked = task(picture, [{"height": 4096, "width": 4096}])
    budget = ShrinkBudget(memory_bytes=1 << 40, operations=1_000_000, structural_operations=10**9)
    (scaled,) = shrink(asked, budget).workloads
    assert scaled.axes["width"] < 4096


def test_alignment_is_given_up_for_memory_but_not_for_operations() -> None:
    asked = task(GEMM, [{"b": 1, "s": 8192}])
    (slow,) = shrink(asked, ShrinkBudget(memory_bytes=1 << 40, operations=1)).workloads
    assert slow.axes["s"] == 128
    tight = planned_bytes(Effort(GEMM), {"b": 1, "s": 20})
    (small,) = shrink(asked, ShrinkBudget(memory_bytes=tight, operations=1 << 60)).workloads
    assert small.axes["s"] == 16


def test_derived_axes_follow_the_axes_they_are_derived_from() -> None:
    of = definition(
        {"q": "float32 batch d", "ptr": "int32 len_indptr", "t": "float32 tokens d", "k": "float32 seq_k d"},
        {
            "batch": None,
            "len_indptr": None,
            "seq": None,
            "seq_k": None,
            "tokens": None,
            "d": 512,
            "blocks": "tokens // 16",
        },
    )
    sizes = [
        {"batch": b, "len_indptr": b + 1, "seq": s, "seq_k": s, "tokens": b * s}
        for b, s in ((64, 1024), (32, 4096), (7, 2048), (16, 512))
    ]
    for w in shrink(task(of, sizes), ShrinkBudget(memory_bytes=4 << 20, operations=1 << 60)).workloads:
        assert w.axes["len_indptr"] == w.axes["batch"] + 1
        assert w.axes["seq_k"] == w.axes["seq"]
        assert w.axes["tokens"] == w.axes["batch"] * w.axes["seq"]
        assert planned_bytes(Effort(of), w.axes) <= 4 << 20


def test_pages_stay_enough_for_their_indices_and_heads_stay_divisible() -> None:
    of = definition(
        {
            "q": "bfloat16 b num_heads d", "cache": "bfloat16 num_pages num_kv_heads d",
            "kv_indices": "int32 num_kv_indices",
        },
        {"b": None, "num_pages": None, "num_kv_indices": None, "num_heads": None, "num_kv_heads": None, "d": 128},
    )  # fmt: skip
    sizes = [
        {"b": 64, "num_pages": 9000, "num_kv_indices": 8990, "num_heads": 48, "num_kv_heads": 6},
        {"b": 8, "num_pages": 90000, "num_kv_indices": 12, "num_heads": 40, "num_kv_heads": 8},
    ]
    for megabytes in (8, 2, 1):
        budget = ShrinkBudget(memory_bytes=megabytes << 20, operations=1 << 60)
        for w in shrink(task(of, sizes), budget).workloads:
            assert w.axes["num_kv_indices"] <= w.axes["num_pages"]
            assert w.axes["num_heads"] % w.axes["num_kv_heads"] == 0


def test_recorded_inputs_of_a_shrunk_workload_are_made_up_and_marked() -> None:
    of = definition(
        {"qo_indptr": "int32 len_indptr", "x": "float32 total_q d"},
        {"len_indptr": None, "total_q": None, "d": 64},
    )
    asked = task(of, [{"len_indptr": 9, "total_q": 4096}], qo_indptr=recorded("p"))
    shrunk = shrink(asked, ShrinkBudget(memory_bytes=1 << 20, operations=1 << 60))
    assert shrunk.marks == ("shrunk", "synthetic-inputs")
    (w,) = shrunk.workloads
    pointer = InputGenerator(of, w).make()[0]
    assert pointer.tolist()[-1] == w.axes["total_q"]  # type: ignore[union-attr]
    assert w.axes["total_q"] < 4096


def test_workloads_that_become_equal_are_left_out_with_a_remark() -> None:
    asked = task(GEMM, [{"b": 1, "s": 4096}, {"b": 1, "s": 8192}, {"b": 1, "s": 3}])
    shrunk = shrink(
        asked, ShrinkBudget(memory_bytes=planned_bytes(Effort(GEMM), {"b": 1, "s": 130}), operations=1 << 60)
    )
    assert [w.axes["s"] for w in shrunk.workloads] == [128, 3]
    assert list(shrunk.originals.values()) == ["w0"]
    assert [(f.code, f.problem) for f in shrunk.findings] == [
        ("shrunk-duplicates", "1 workloads became equal to others, and are left out")
    ]


def test_workloads_equal_in_size_but_not_in_tolerance_are_kept_apart() -> None:
    asked = task(GEMM, [{"b": 1, "s": 4096}, {"b": 1, "s": 8192}])
    loose = asked.workloads[1].model_copy(
        update={"tolerance": asked.workloads[1].tolerance.model_copy(update={"max_atol": 0.5})}
    )
    asked = asked.model_copy(update={"workloads": (asked.workloads[0], loose)})
    assert len(shrink(asked, ShrinkBudget(memory_bytes=4 << 20, operations=1 << 60)).workloads) == 2


def test_what_does_not_fit_at_the_smallest_size_is_said_with_its_figures() -> None:
    of = definition(
        {"w": "float32 huge huge", "x": "float32 n"},
        {"n": None, "huge": 65536},
        outputs={"g": "float32 huge huge"},
    )
    with pytest.raises(CannotShrink) as raised:
        shrink(task(of, [{"n": 512}]), ShrinkBudget(memory_bytes=20 << 30, operations=1))
    assert str(raised.value) == (
        "handmade needs 16.0 GiB of inputs and 16.0 GiB of outputs at the smallest size (n=1); "
        "with the copies that judging keeps that is 80.0 GiB, and this machine offers 20.0 GiB"
    )


def test_constants_shrink_only_when_asked_and_make_another_problem() -> None:
    of = definition(
        {"w": "float32 huge huge", "x": "float32 n"},
        {"n": None, "huge": 65536},
        outputs={"g": "float32 huge huge"},
    )
    asked = task(of, [{"n": 512}])
    shrunk = shrink(asked, ShrinkBudget(memory_bytes=1 << 30, operations=1 << 60), constants=True)
    assert shrunk.definition.name == of.name + SMALLER_CONSTANTS
    assert shrunk.name == asked.name + SMALLER_CONSTANTS
    assert shrunk.definition.digest != of.digest
    assert shrunk.marks == ("shrunk",)
    assert planned_bytes(Effort(shrunk.definition), shrunk.workloads[0].axes) <= 1 << 30
    assert shrink(asked, PLENTY, constants=True) is asked


def test_operations_make_work_smaller_where_memory_is_no_matter() -> None:
    asked = task(GEMM, [{"b": 8, "s": 4096}])
    effort = Effort(GEMM)
    wish = effort.operations({"b": 1, "s": 512})
    (w,) = shrink(asked, ShrinkBudget(memory_bytes=1 << 40, operations=wish)).workloads
    assert effort.operations(w.axes) <= wish
    assert w.axes["b"] * w.axes["s"] == 512


OFFICIAL_TOO_LARGE = {"L2/005_swiglu_mlp_backward", "L2/025_moe_expert_parallel_execution_backward"}


def official(root: Path) -> dict[str, Task]:
    names = sorted(str(file.parent.relative_to(root)) for file in root.glob("*/*/definition.json"))
    return {name: tasks.load(name, data_roots=(root,)) for name in names}


def test_of_the_official_problems_only_two_do_not_fit_in_20_gib(official_root: Path) -> None:
    budget = ShrinkBudget(memory_bytes=20 << 30, operations=40_000_000_000)
    refused = set()
    for name, asked in official(official_root).items():
        try:
            shrunk = shrink(asked, budget)
        except CannotShrink:
            refused.add(name)
            continue
        effort = Effort(asked.definition)
        assert all(planned_bytes(effort, w.axes) <= budget.memory_bytes for w in shrunk.workloads), name
        assert set(shrunk.originals.values()) <= {w.uuid for w in asked.workloads}, name
    assert refused == OFFICIAL_TOO_LARGE


@pytest.mark.parametrize(
    "name",
    [
        "FlashInfer-Bench/012_gqa_paged_decode_h32_kv4_d128_ps1",
        "FlashInfer-Bench/014_gqa_paged_prefill_causal_h32_kv4_d128_ps1",
    ],
)
def test_references_of_paged_attention_run_on_stand_ins(official_root: Path, name: str) -> None:
    asked = tasks.load(name, data_roots=(official_root,))
    shrunk = shrink(asked, ShrinkBudget(memory_bytes=256 << 20, operations=4_000_000_000))
    reference = load_reference(shrunk.definition)
    effort = Effort(shrunk.definition)
    for w in sorted(shrunk.workloads, key=lambda w: effort.operations(w.axes))[:3]:
        generator = InputGenerator(shrunk.definition, w, reference=reference)
        assert {"kv_indptr", "kv_indices"} <= generator.synthetic
        outputs = reference.run(*generator.make(1))
        expected = shrunk.definition.output_shapes(w.axes).values()
        assert [tuple(output.shape) for output in outputs] == list(expected)
