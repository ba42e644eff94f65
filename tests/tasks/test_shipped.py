"""The shipped tasks as files: official in form, made from their tables, and frozen."""

import json
import re
from pathlib import Path

import jsonschema
import pytest

from scripts.alternatives import CASES
from scripts.shipped import SHIPPED
from scripts.shipped.assemble import TASKS
from scripts.shipped.page import PAGE
from tasks.definition import Definition
from tasks.loading import load
from tasks.task import Task
from tasks.workload import Workload

NAMES = [task.name for task in SHIPPED]
FROZEN = Path(__file__).with_name("shipped_digests.json")
THAWED = """
{name} is not the task that was frozen. Every figure that was ever measured on it (scores, conclusions, recorded
landscapes, tables in docs/) was measured on the old one, and none of them can be compared with what is measured now.
If that is not what you want, undo the change. If it is, give the task another name, or measure everything again and
say so in a decision record; only then put {digest} into tests/tasks/shipped_digests.json.
"""
WANTED = {
    "l1_bf16_gemm": [
        {"M": 4096, "N": 4096, "K": 4096}, {"M": 2048, "N": 2048, "K": 2048}, {"M": 8192, "N": 8192, "K": 8192},
        {"M": 1, "N": 5120, "K": 2048}, {"M": 64, "N": 5120, "K": 2048}, {"M": 1, "N": 28672, "K": 4096},
        {"M": 64, "N": 28672, "K": 4096},
    ],
    "l1_rmsnorm": [{"num_rows": 14418, "width": 4096}, {"num_rows": 16254, "width": 2048}],
    "l2_decoder": [{"batch_size": 1, "seq_len": 8192}],
    "fi_paged_decode": [
        {"batch_size": b, "earlier_tokens": b * (length - 1), "page_size": 1}
        for b, length in ((1, 4096), (16, 4096), (64, 2048))
    ],
    "fi_paged_prefill": [
        {"batch_size": b, "total_q": b * new, "earlier_tokens": 128, "page_size": 1}
        for b, new in ((8, 512), (4, 2048), (1, 8192), (64, 128))
    ] + [{"batch_size": 6, "total_q": 7348, "earlier_tokens": 128, "page_size": 1}],
}  # fmt: skip
"""Sizes on which later figures depend."""


@pytest.fixture(params=SHIPPED, ids=NAMES)
def shipped(request):
    return request.param


def files(shipped) -> tuple[dict, list[dict]]:
    definition = json.loads((shipped.path / "definition.json").read_text())
    return definition, [
        json.loads(line) for line in (shipped.path / "workload.jsonl").read_text().splitlines()
    ]


def test_all_fifteen_are_there_and_nothing_else():
    found = {path.parent.name for path in TASKS.glob("*/*/definition.json")}
    assert len(found) == 15
    assert found == set(NAMES) == set(CASES)


def test_the_committed_files_are_what_the_tables_make(shipped):
    for path, text in shipped.files().items():
        assert path.read_text() == text, f"run `python -m scripts.shipped`: {path} is out of date"


def test_reference_py_is_the_reference_of_the_definition(shipped):
    assert files(shipped)[0]["reference"] == (shipped.path / "reference.py").read_text()


def test_the_files_hold_to_the_official_schemas(shipped, schemas):
    definition, workloads = files(shipped)
    jsonschema.validate(definition, json.loads((schemas / "definition.schema.json").read_text()))
    workload_schema = json.loads((schemas / "workload.schema.json").read_text())
    for workload in workloads:
        jsonschema.validate(workload, workload_schema)


def test_no_model_ignores_a_key_of_the_files(shipped):
    """Official models drop what they do not know; here nothing may be lost."""
    definition, workloads = files(shipped)
    read = Definition.model_validate(definition).model_dump(mode="json", exclude_none=True)
    assert set(definition) == set(read)
    assert {name: set(spec) for name, spec in definition["axes"].items()} == {
        name: set(spec) for name, spec in read["axes"].items()
    }
    for workload in workloads:
        kept = Workload.model_validate(workload).model_dump(mode="json", exclude_none=True)
        assert workload == kept


def test_workloads_are_six_to_sixteen_and_all_different(shipped):
    _, workloads = files(shipped)
    assert 6 <= len(workloads) <= 16
    assert len({workload["uuid"] for workload in workloads}) == len(workloads)
    assert len({json.dumps(workload["axes"], sort_keys=True) for workload in workloads}) == len(workloads)


def test_a_workload_gives_every_var_axis_and_every_input_and_nothing_else(shipped):
    definition = shipped.definition()
    for workload in shipped.workloads():
        assert set(workload.axes) == set(definition.var_axes)
        assert list(workload.inputs) == list(definition.inputs)
        assert all(size > 0 for size in definition.resolve_axes(workload.axes).values())


def test_the_sizes_that_later_figures_are_measured_on_are_there(shipped):
    axes = [dict(workload.axes) for workload in shipped.workloads()]
    assert [size for size in WANTED.get(shipped.name, []) if size not in axes] == []


def test_the_loader_finds_nothing_amiss(shipped):
    findings = [finding for finding in load(shipped.name).findings if finding.level != "note"]
    assert findings == []


def test_no_word_in_an_input_s_description_changes_how_it_is_drawn(shipped):
    """The official rules read descriptions too: these words would turn noise into a mask or a softmax."""
    for name, spec in shipped.definition().inputs.items():
        words = f"{name} {spec.description}".lower()
        assert not re.search(r"softmax|attention mask|binary|_mask|\{0, 1\}|1\.0 for valid", words), name


def test_the_description_names_a_public_model_and_accounts_for_the_tolerance(shipped):
    text = shipped.definition().description or ""
    assert re.search(r"Llama-3|Qwen|Mistral|DeepSeek|OLMoE|Ling-mini|Command R7B", text)
    tolerance = shipped.tolerance
    assert f"{tolerance.max_atol:g}" in text and f"{tolerance.max_rtol:g}" in text
    assert "Tolerance" in text


def test_the_digest_is_the_frozen_one(shipped):
    task = Task(name=shipped.name, definition=shipped.definition(), workloads=shipped.workloads())
    frozen = json.loads(FROZEN.read_text())
    assert task.digest == frozen[shipped.name], THAWED.format(name=shipped.name, digest=task.digest)


def test_the_digest_of_the_tables_is_the_digest_of_the_loaded_task(shipped):
    assert load(shipped.name).digest == json.loads(FROZEN.read_text())[shipped.name]


def test_the_page_describes_the_tasks_as_they_are(shipped):
    text = PAGE.read_text()
    tolerance = shipped.tolerance
    assert f"| `{shipped.name}` | {shipped.hf_id} | {len(shipped.sizes)} |" in text
    assert f"| {tolerance.max_atol:g} | {tolerance.max_rtol:g} |" in text
    assert shipped.definition().description in text


def test_every_figure_of_the_page_tells_honest_from_wrong():
    rows = re.findall(r"^\| (honest|wrong) \| ([^|]+) \| ([\d.]+) \|", PAGE.read_text(), re.MULTILINE)
    assert len(rows) > 100
    misplaced = [
        (kind, name, share)
        for kind, name, share in rows
        if (float(share) < 0.999 if kind == "honest" else float(share) >= 0.99)
    ]
    assert misplaced == []
