"""Attention over paged caches: what is recognised, and that the kernels are right under the interpreter."""

import random
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
import torch

from agents.templates.base import Family, Knobs
from agents.templates.paged_attention import PagedAttention
from agents.templates.paged_decode import PagedDecodeFamily
from agents.templates.paged_prefill import PagedPrefillFamily
from tasks.definition import Definition
from tasks.loading import load
from tasks.task import Task
from tests.agents.interpreted import Call, run_interpreted
from tests.agents.small import expected, shipped, written

PREFILL, DECODE = PagedPrefillFamily(), PagedDecodeFamily()
SIZES = {"num_q_heads": 6, "num_kv_heads": 2, "head_dim": 16}
AXES = {"batch_size": 1, "total_q": 1, "earlier_tokens": 1, "page_size": 1}
TASKS: dict[str, Task] = {
    "fi_paged_prefill": shipped("fi_paged_prefill", SIZES, AXES),
    "fi_paged_decode": shipped("fi_paged_decode", SIZES, {k: v for k, v in AXES.items() if k != "total_q"}),
}


def recognised(name: str) -> tuple[Family, PagedAttention]:
    family: Family = PREFILL if "prefill" in name else DECODE
    match = family.matches(TASKS[name])
    assert isinstance(match, PagedAttention)
    return family, match


def edited(name: str, old: str, new: str) -> Task:
    definition = TASKS[name].definition
    assert old in definition.reference
    raw = {**definition.model_dump(mode="json"), "reference": definition.reference.replace(old, new)}
    return TASKS[name].model_copy(update={"definition": Definition.model_validate(raw)})


def test_inputs_are_told_apart() -> None:
    _, prefill = recognised("fi_paged_prefill")
    assert (prefill.query, prefill.keys, prefill.values) == ("query", "key_pages", "value_pages")
    assert (prefill.query_starts, prefill.key_starts) == ("query_starts", "page_starts")
    assert (prefill.pages, prefill.last_page_tokens) == ("page_indices", "last_page_tokens")
    assert (prefill.output, prefill.lse, prefill.lse_base) == ("output", "lse", 2)
    assert (prefill.query_heads, prefill.kv_heads, prefill.group, prefill.group_width) == (6, 2, 3, 4)
    _, decode = recognised("fi_paged_decode")
    assert decode.query_starts is None


def test_neither_takes_what_is_the_others() -> None:
    assert PREFILL.matches(TASKS["fi_paged_decode"]) is None
    assert DECODE.matches(TASKS["fi_paged_prefill"]) is None


@pytest.mark.parametrize("name", ["l2_decoder", "quant_nvfp4_gqa", "l1_rope", "fi_moe_fp8"])
def test_other_shipped_tasks_are_left_alone(name: str) -> None:
    assert PREFILL.matches(load(name)) is None
    assert DECODE.matches(load(name)) is None


def test_what_alters_the_scores_is_left_alone() -> None:
    capped = edited(
        "fi_paged_decode", "* score_scale", "* score_scale\n        scores = 30 * torch.tanh(scores / 30)"
    )
    assert DECODE.matches(capped) is None


def test_natural_logarithms_are_kept() -> None:
    match = DECODE.matches(edited("fi_paged_decode", " / math.log(2.0)", ""))
    assert match is not None and match.lse_base is None


def pages_of(lengths: Sequence[int], page_size: int) -> dict[str, Any]:
    """Caches with pages in random order, one of them unused and full of NaN."""
    counts = [-(-length // page_size) for length in lengths]
    total = sum(counts)
    unused, *order = torch.randperm(total + 1).tolist()
    caches = torch.randn(2, total + 1, page_size, SIZES["num_kv_heads"], SIZES["head_dim"]).bfloat16()
    caches[:, unused] = float("nan")
    return {
        "key_pages": caches[0],
        "value_pages": caches[1],
        "page_starts": torch.tensor([0, *counts]).cumsum(0).int(),
        "page_indices": torch.tensor(order).int(),
        "last_page_tokens": torch.tensor(
            [length - max(count - 1, 0) * page_size for length, count in zip(lengths, counts, strict=True)]
        ).int(),
        "score_scale": SIZES["head_dim"] ** -0.5,
    }


def decode_inputs(lengths: Sequence[int], page_size: int = 1, **changes: Any) -> dict[str, Any]:
    query = torch.randn(len(lengths), SIZES["num_q_heads"], SIZES["head_dim"]).bfloat16()
    return {"query": query, **pages_of(lengths, page_size), **changes}


def prefill_inputs(
    new: Sequence[int], earlier: Sequence[int], page_size: int = 1, **changes: Any
) -> dict[str, Any]:
    query = torch.randn(sum(new), SIZES["num_q_heads"], SIZES["head_dim"]).bfloat16()
    starts = torch.tensor([0, *new]).cumsum(0).int()
    pages = pages_of([n + e for n, e in zip(new, earlier, strict=True)], page_size)
    inputs = {"query": query, **pages, **changes, "query_starts": starts}
    return {name: inputs[name] for name in TASKS["fi_paged_prefill"].definition.inputs}


def strided(inputs: dict[str, Any]) -> dict[str, Any]:
    """The same values, with keys, values and queries as parts of larger tensors, and values the other way round."""
    queries = torch.stack([inputs["query"]] * 2, dim=1)[:, 1]
    keys = torch.stack([inputs["key_pages"]] * 3, dim=3)[:, :, :, 1]
    values = inputs["value_pages"].mT.contiguous().mT
    return {**inputs, "query": queries, "key_pages": keys, "value_pages": values}


def sample(family: Family, match: PagedAttention, count: int) -> list[Knobs]:
    settings = list(family.knobs(match).settings())
    return [*family.knobs(match).start[:2], *random.Random(3).sample(settings, count)]


def outputs_of(name: str, inputs: dict[str, Any]) -> list[torch.Tensor]:
    query = inputs["query"]
    shape = (*query.shape[:2], 2)
    wide = torch.full((*query.shape[:2], 2 * query.shape[2]), float("nan"), dtype=query.dtype)
    return [wide[..., ::2], torch.full(shape, float("nan"))[..., 0]]


def interpreted(
    name: str, cases: list[dict[str, Any]], folder: Path, count: int
) -> list[list[list[torch.Tensor]]]:
    """Of the first two suggestions and `count` other settings: the outputs of every case."""
    family, match = recognised(name)
    jobs: list[tuple[Path, list[Call]]] = []
    for knobs in sample(family, match, count):
        proposal = family.render(match, knobs)
        path = written(TASKS[name], proposal, folder)
        jobs.append((path, [(list(case.values()), outputs_of(name, case)) for case in cases]))
    return run_interpreted(jobs, folder)


def check(name: str, cases: list[dict[str, Any]], results: list[list[list[torch.Tensor]]]) -> None:
    wanted = [expected(TASKS[name], case) for case in cases]
    for outputs in results:
        for (output, lse), truth in zip(outputs, wanted, strict=True):
            assert_right(output, lse, *truth)


def assert_right(
    output: torch.Tensor, lse: torch.Tensor, wanted: torch.Tensor, wanted_lse: torch.Tensor
) -> None:
    """Where no key is seen the reference may give NaN: zeros and minus infinity are wanted."""
    unseen = wanted_lse.isnan() | wanted_lse.isneginf()
    assert torch.equal(lse.isneginf(), unseen)
    assert not output[unseen].any()
    assert torch.allclose(lse[~unseen], wanted_lse[~unseen], rtol=1e-5, atol=1e-5)
    # weights rounded to bf16, the result too
    assert torch.allclose(output[~unseen].float(), wanted[~unseen].float(), rtol=2**-7, atol=2**-7)


def test_prefill_is_right_for_any_lengths_pages_and_strides(tmp_path: Path) -> None:
    torch.manual_seed(1)
    cases = [
        prefill_inputs([5, 0, 17, 3, 1], [7, 3, 0, 70, 0], page_size=3),
        prefill_inputs([1], [0]),
        prefill_inputs([0, 0], [0, 4]),
        prefill_inputs([3, 20, 2], [0, -15, -2]),  # more queries than keys
        strided(prefill_inputs([33], [2], page_size=16)),
        prefill_inputs([9], [0], score_scale=-3.0),
        prefill_inputs([9], [150], score_scale=1e4),
    ]
    check("fi_paged_prefill", cases, interpreted("fi_paged_prefill", cases, tmp_path, count=0))


def test_decoding_is_right_for_any_lengths_pages_and_strides_and_gives_the_same_bits_again(
    tmp_path: Path,
) -> None:
    torch.manual_seed(3)
    cases = [
        decode_inputs([0, 64, 130, 0]),
        decode_inputs([200, 0, 31], page_size=3),
        decode_inputs([0]),
        strided(decode_inputs([70, 2], page_size=4)),
        decode_inputs([40], score_scale=-3.0),
        decode_inputs([70], score_scale=1e4),
    ]
    results = interpreted("fi_paged_decode", [*cases, cases[0]], tmp_path, count=0)
    check("fi_paged_decode", [*cases, cases[0]], results)
    for outputs in results:
        assert all(torch.equal(a, b) for a, b in zip(outputs[0], outputs[-1], strict=True))


def test_every_suggestion_is_a_setting_that_is_allowed() -> None:
    for name in TASKS:
        family, match = recognised(name)
        space = family.knobs(match)
        settings = list(space.settings())
        assert space.start and all(dict(knobs) in settings for knobs in space.start)
