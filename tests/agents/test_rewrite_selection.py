"""Selections of a row in registers and sorts by counting: what the rules match, what not, and that choices agree."""

import re
from pathlib import Path

import pytest
import torch

from agents.rewrite.selection.rounds import HELPERS
from tasks.task import Task
from tests.agents.interpreted import Call, run_interpreted
from tests.agents.ruled import elsewhere, ruled, task_of, traced
from tests.agents.small import draw, expected

ROUTED = {"w": (["tokens", "k"], "float32"), "i": (["tokens", "k"], "int64")}
GROUPED = """
s = torch.sigmoid(x.float())
by = (s + b.float()).view(x.shape[0], 4, -1)
best = torch.topk(by, 2, dim=-1, sorted=False)[0].sum(dim=-1)
group = torch.topk(best, 2, dim=-1, sorted=False)[1]
mask = torch.zeros_like(best).scatter_(1, group, 1.0)
mask = mask.unsqueeze(-1).expand(-1, 4, by.shape[-1]).reshape(x.shape[0], -1)
i = torch.topk((s + b.float()).masked_fill(~mask.bool(), float("-inf")), 3, dim=-1, sorted=True)[1]
w = s.gather(1, i)
return w / (w.sum(dim=-1, keepdim=True) + 1e-20) * 2.5, i
"""
SOFTMAX = "w, i = torch.topk(torch.softmax(x.float(), -1), 3)\nreturn w / w.sum(-1, keepdim=True), i"
SMALLEST = "v, i = torch.sort(x.float().topk(3, largest=False, dim=1)[0], descending=True)\nreturn v, i"
DENSE = """
w, i = torch.topk(x.float(), 3)
dense = torch.zeros_like(x.float()).scatter_(1, i, torch.softmax(w, -1))
return dense.topk(3)[0] + x.float().argmax(-1, keepdim=True), i
"""


def rows_task(body: str, experts: int) -> Task:
    inputs = {"x": (["tokens", "experts"], "float32"), "b": (["experts"], "bfloat16")}
    return task_of(body, inputs, ROUTED, {"tokens": 5}, {"experts": experts, "k": 3})


TASKS = {
    "groups": rows_task(GROUPED, 16),
    "groups of no power of two": rows_task(GROUPED, 20),
    "softmax": rows_task(SOFTMAX, 10),
    "smallest and sorted": rows_task(SMALLEST, 9),
    "dense": rows_task(DENSE, 7),
}


def test_a_row_is_chosen_as_the_reference_does(tmp_path: Path) -> None:
    jobs: list[tuple[Path, list[Call]]] = []
    wanted = []
    for number, task in enumerate(TASKS.values()):
        source = ruled(task, "selection_in_registers")
        assert source is not None
        assert "torch.topk" not in source and source.count("_kernel[(") == 1
        path = tmp_path / f"task_{number}.py"
        path.write_text(source)
        other = elsewhere(task, {"tokens": 37})
        inputs = draw(other, number)
        jobs.append((path, [(list(inputs.values()), [])]))
        wanted.append(expected(other, inputs))
    for (found,), values in zip(run_interpreted(jobs, tmp_path), wanted, strict=True):
        torch.testing.assert_close(found[0], values[0], rtol=1e-5, atol=1e-6)
        assert torch.equal(found[1], values[1])


ODD = [[0.0, -0.0, 1.0, 1.0], [float("nan"), 2.0, float("inf"), -1.0], [-2.0, -2.0, -3.0, float("-inf")]]


def test_equal_values_nan_and_zeros_are_ordered_as_documented(tmp_path: Path) -> None:
    task = rows_task("w, i = torch.topk(x, 3)\nreturn w * 1.0, i", 4)
    source = ruled(task, "selection_in_registers")
    assert source is not None
    (path := tmp_path / "odd.py").write_text(source)
    x = torch.tensor(ODD)
    ((found,),) = run_interpreted([(path, [([x, torch.zeros(4)], [])])], tmp_path)
    assert found[1].tolist() == [[2, 3, 0], [0, 2, 1], [0, 1, 2]]
    torch.testing.assert_close(found[0], x.gather(1, found[1]), equal_nan=True)


def test_what_the_library_leaves_unsorted_is_left_as_its_cuda_kernel_leaves_it(tmp_path: Path) -> None:
    """In the order of places, values equal to the last one after the others; a CPU has the library do it."""
    task = rows_task("i = torch.topk(x, 3, sorted=False)[1]\nreturn x.gather(1, i), i", 6)
    source = ruled(task, "selection_in_registers")
    assert source is not None
    assert "return _selected_plainly(x" in source
    (path := tmp_path / "unsorted.py").write_text(re.sub(r"if not x.is_cuda:", "if False:", source))
    x = torch.tensor([[5.0, 1.0, 7.0, 6.0, 0.0, 2.0], [4.0, 4.0, 1.0, 4.0, 9.0, 4.0]])
    ((found,),) = run_interpreted([(path, [([x, torch.zeros(6)], [])])], tmp_path)
    assert found[1].tolist() == [[2, 3, 0], [4, 0, 1]]
    assert found[0].tolist() == [[7.0, 6.0, 5.0], [9.0, 4.0, 4.0]]


REFUSED = {
    "rows of a length that varies": task_of(
        "w, i = torch.topk(x, 3)\nreturn w * 2, i", {"x": (["tokens", "experts"], "float32")}, ROUTED,
        {"tokens": 5, "experts": 8}, {"k": 3},
    ),
    "another dimension": rows_task("w, i = torch.topk(x.t().contiguous(), 3, dim=0)\nreturn (w * 2).t(), i.t()", 8),
    "unsorted and alone": rows_task("w, i = torch.topk(x, 3, sorted=False)\nreturn w, i", 8),
    "more rounds than a row is worth": task_of(
        "w, i = torch.topk(x, k=100)\nreturn w * 2, i", {"x": (["tokens", "experts"], "float32")}, ROUTED,
        {"tokens": 5}, {"experts": 200, "k": 100},
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", REFUSED)
def test_what_does_not_fit_a_row_is_left_alone(name: str) -> None:
    assert ruled(REFUSED[name], "selection_in_registers") is None


SORTED = {"order": (["slots"], "int32"), "bounds": (["more"], "int32"), "v": (["slots"], "int64")}
COUNTED = """
flat = ids.flatten()
v, order = flat.sort(stable=True)
bounds = torch.zeros(8, dtype=torch.int32, device=ids.device)
bounds[1:] = torch.bincount(flat, minlength=7).cumsum(0).to(torch.int32)
return order.to(torch.int32), bounds, v
"""


def ids_task(body: str) -> Task:
    inputs = {"ids": (["tokens", "two"], "int64")}
    return task_of(body, inputs, SORTED, {"tokens": 9, "slots": 18}, {"two": 2, "more": 8})


def test_a_sort_by_counting_is_the_stable_one(tmp_path: Path) -> None:
    source = ruled(ids_task(COUNTED), "counting_sort")
    assert source is not None
    assert "sort(" not in source.replace("_sorted_by_counting_7(", "") and "cumsum(total" in source
    (path := tmp_path / "sorted.py").write_text(source)
    for tokens in (3, 700):
        ids = torch.randint(0, 7, (tokens, 2), generator=torch.Generator().manual_seed(tokens))
        ((found,),) = run_interpreted([(path, [([ids], [])])], tmp_path)
        for one, other in zip(found, expected(ids_task(COUNTED), {"ids": ids}), strict=True):
            assert torch.equal(one, other)


@pytest.mark.parametrize(
    "body",
    [
        COUNTED.replace("stable=True", "stable=True, descending=True"),
        COUNTED.replace("bincount(flat", "bincount(flat + 1"),
        COUNTED.replace("flat.sort(", "flat.float().sort(").replace(
            "order.to(torch.int32), bounds, v", "order, bounds, v"
        ),
    ],
)
def test_sorts_of_what_is_not_counted_are_left_alone(body: str) -> None:
    assert ruled(ids_task(body), "counting_sort") is None


def test_counts_without_a_number_of_bins_are_not_followed() -> None:
    with pytest.raises(Exception, match="bincount"):
        traced(ids_task(COUNTED.replace(", minlength=7", "")))


def test_the_rounds_are_as_the_emitted_modules_hold_them() -> None:
    source = ruled(TASKS["softmax"], "selection_in_registers")
    assert source is not None and HELPERS.strip() in source
