"""What the official models swallow is said aloud, with file, field and mend."""

import json
from pathlib import Path
from typing import Any

import pytest

from tasks import load
from tasks.lint import fold, lint_paths
from tasks.lint.fold import across_files
from tasks.task import LintFinding
from tests.fakes import official_files as files


def _codes(findings: list[LintFinding]) -> dict[str, LintFinding]:
    return {finding.code: finding for finding in findings}


def _lint_problem(
    folder: Path, *, lines: list[dict[str, Any]] | None = None, **changes: Any
) -> list[LintFinding]:
    return lint_paths([files.write_problem(folder / "p", files.definition(**changes), lines)])


def _lint_solution(folder: Path, content: dict[str, Any], definition: dict[str, Any] | None = None) -> Any:
    files.write_problem(folder, definition)
    (folder / "solution.json").write_text(json.dumps(content))
    return _codes(lint_paths([folder / "solution.json"]))


def test_a_clean_problem_has_no_finding(tmp_path: Path) -> None:
    assert _lint_problem(tmp_path) == []


def test_a_misspelt_key_is_named_with_its_mend(tmp_path: Path) -> None:
    tolerance = {"max_atol": 0.01, "max_rtol": 0.01, "required_match_ratio": 0.98, "max_error_cap": 1.0}
    (finding,) = _lint_problem(tmp_path, lines=[files.workload(tolerance=tolerance)])
    assert (finding.level, finding.code) == ("warning", "misspelt-key")
    assert finding.field == "line 1: tolerance.required_match_ratio"
    assert "required_matched_ratio stays 0.99" in finding.problem
    assert finding.mend == "write 'required_matched_ratio'"
    assert finding.file == str(tmp_path / "p" / "workload.jsonl")


def test_unknown_keys_are_found_at_every_depth(tmp_path: Path) -> None:
    content = files.definition(tags=["a"])
    content["axes"]["rows"]["value"] = 4
    content["inputs"]["x"]["descripton"] = "tokens"
    line = files.workload()
    line["inputs"]["eps"]["seed"] = 3
    findings = {f.field: f for f in lint_paths([files.write_problem(tmp_path, content, [line])])}
    assert set(findings) == {"tags", "axes.rows.value", "inputs.x.descripton", "line 1: inputs.eps.seed"}
    assert findings["inputs.x.descripton"].mend == "write 'description'"
    assert findings["tags"].level == "note"


def test_a_key_given_twice_is_reported(tmp_path: Path) -> None:
    folder = files.write_problem(tmp_path)
    line = json.dumps(files.workload()).replace('"uuid"', '"uuid": "other", "uuid"')
    (folder / "workload.jsonl").write_text(line)
    assert [(f.code, f.field) for f in lint_paths([folder])] == [("doubled-key", "line 1: uuid")]


@pytest.mark.parametrize(
    ("line", "code", "field", "level"),
    [
        ({"tolerance": None}, "missing-tolerance", "tolerance", "warning"),
        ({"tolerance": {"allow_negative_inf": True}}, "partial-tolerance", "tolerance", "warning"),
        ({"tolerance": {"max_atol": 0.5}}, "partial-tolerance", "tolerance", "warning"),
        ({"tolerance": {"max_atol": 0.5, "max_rtol": 0.01}}, "wide-tolerance", "tolerance", "note"),
        ({"tolerance": {"max_atol": 1e-5, "max_rtol": 1e-5}}, "tight-tolerance", "tolerance", "note"),
        ({"tolerance": {"max_atol": -1, "max_rtol": 0.01}}, "negative-tolerance", "tolerance.max_atol", "warning"),
        (
            {"tolerance": {"max_atol": 0.01, "max_rtol": 0.01, "required_matched_ratio": 0}},
            "idle-tolerance",
            "tolerance.required_matched_ratio",
            "warning",
        ),
        (
            {"tolerance": {"max_atol": 0.01, "max_rtol": 0.01, "required_matched_ratio": 98}},
            "impossible-ratio",
            "tolerance.required_matched_ratio",
            "error",
        ),
        ({"inputs": {**files.workload()["inputs"], "bias": {"type": "random"}}}, "unknown-input", "inputs.bias", "warning"),
        ({"inputs": {}}, "missing-input", "inputs.eps", "warning"),
        (
            {"inputs": {**files.workload()["inputs"], "x": {"type": "scalar", "value": 1}}},
            "scalar-for-tensor",
            "inputs.x",
            "warning",
        ),
        ({"inputs": {**files.workload()["inputs"], "eps": {"type": "random"}}}, "random-scalar", "inputs.eps", "note"),
        (
            {"inputs": {"x": {"type": "safetensors", "path": "a/gone.safetensors", "tensor_key": "x"}}},
            "missing-blob",
            "inputs.x.path",
            "warning",
        ),
        ({"axes": {"rows": 4, "more": 2}}, "unknown-axis", "axes.more", "warning"),
        ({"axes": {"rows": 4, "half": 9}}, "overridden-constant", "axes.half", "warning"),
        ({"axes": {"rows": 4, "columns": 16}}, "recomputed-axis", "axes.columns", "note"),
        ({"axes": {"rows": "4"}}, "converted", "axes.rows", "note"),
        ({"axes": {"rows": True}}, "converted", "axes.rows", "warning"),
        ({"tolerance": {"max_atol": True, "max_rtol": 0.01}}, "converted", "tolerance.max_atol", "warning"),
        (
            {"tolerance": {"max_atol": 0.01, "max_rtol": 0.01, "required_matched_ratio": -0.1}},
            "negative-tolerance",
            "tolerance.required_matched_ratio",
            "warning",
        ),
        (
            {"tolerance": {"max_atol": 0.01, "max_rtol": 0.01, "max_error_cap": -1}},
            "negative-tolerance",
            "tolerance.max_error_cap",
            "warning",
        ),
        ({"axes": {"rows": -4}}, "malformed", "axes.rows", "error"),
    ],
)  # fmt: skip
def test_a_fault_of_a_workload_is_named(
    tmp_path: Path, line: dict[str, Any], code: str, field: str, level: str
) -> None:
    content = {key: value for key, value in files.workload(**line).items() if value is not None}
    finding = _codes(_lint_problem(tmp_path, lines=[content]))[code]
    assert (finding.field, finding.level) == (f"line 1: {field}", level)
    assert finding.mend and finding.problem


def test_a_constant_of_true_is_read_as_one_and_said(tmp_path: Path) -> None:
    axes = {**files.definition()["axes"], "half": {"type": "const", "value": True}}
    (finding,) = _lint_problem(tmp_path, axes=axes)
    assert (finding.code, finding.field, finding.level) == ("converted", "axes.half.value", "warning")
    assert finding.problem == "is true and is read as 1"


def test_an_expression_that_no_workload_can_mend_is_named_once_in_the_definition(tmp_path: Path) -> None:
    axes = {**files.definition()["axes"], "columns": {"type": "expr", "expression": "9**9**9**9"}}
    (finding,) = _lint_problem(tmp_path, axes=axes)
    assert (finding.code, finding.field) == ("bad-expression", "axes.columns.expression")


def test_a_style_of_one_is_read_as_true_and_said(tmp_path: Path) -> None:
    found = _lint_solution(tmp_path, files.solution(spec_destination_passing_style=0))
    assert found["converted"].problem == "is the number 0 and is read as false"


def test_an_entry_that_names_no_function_is_an_error(tmp_path: Path) -> None:
    found = _lint_solution(tmp_path, files.solution(spec_entry_point="main.py::"))["no-entry-function"]
    assert (found.level, found.field) == ("error", "spec.entry_point")


@pytest.mark.parametrize("path", [".", "a\0b.py", "a" * 5000, "./main.py"])
def test_a_path_that_no_file_can_have_is_an_error(tmp_path: Path, path: str) -> None:
    sources = [*files.solution()["sources"], {"path": path, "content": "x = 1\n"}]
    found = _lint_solution(tmp_path, files.solution(sources=sources))["impossible-path"]
    assert (found.level, found.field) == ("error", "sources[1].path")


def test_every_faulty_line_is_reported_and_not_only_the_first(tmp_path: Path) -> None:
    lines = [files.workload(n, axes={"rows": -n}) for n in (1, 2, 3)]
    faults = [f.field for f in _lint_problem(tmp_path, lines=lines) if f.code == "malformed"]
    assert faults == ["line 1: axes.rows", "line 2: axes.rows", "line 3: axes.rows"]


def test_findings_on_many_lines_fold_into_one(tmp_path: Path) -> None:
    lines = [files.workload(n) for n in (1, 2, 3, 4)]
    for line in (lines[0], lines[1], lines[3]):
        line["tolerance"]["required_match_ratio"] = 0.9
    (folded,) = fold(_lint_problem(tmp_path, lines=lines))
    assert folded.field == "lines 1-2,4: tolerance.required_match_ratio"


def test_a_reference_that_differs_and_a_config_that_does_nothing_are_named(tmp_path: Path) -> None:
    folder = files.write_problem(tmp_path)
    (folder / "reference.py").write_text("def run(): ...\n")
    (folder / "config.json").write_text(json.dumps({"seed": 3, "iterations": 50, "iteration": 2}))
    found = _codes(lint_paths([folder]))
    assert set(found) == {"reference-differs", "config-ignored", "unknown-key"}
    assert found["config-ignored"].field == "seed" and found["unknown-key"].field == "iteration"
    (folder / "reference.py").write_text(files.REFERENCE + "\n")
    assert "reference-differs" not in _codes(lint_paths([folder]))


PYTHON_SOLUTIONS: dict[str, tuple[dict[str, Any], str, str, str]] = {
    "empty languages": ({"spec_languages": []}, "no-language", "spec.languages", "warning"),
    "lower-case hardware": ({"spec_target_hardware": ["local"]}, "malformed", "spec.target_hardware[0]", "error"),
    "another definition": ({"definition": "rope"}, "other-definition", "definition", "warning"),
    "too few arguments": ({"spec_destination_passing_style": True}, "wrong-arity", "spec.entry_point", "error"),
    "options without C++": ({"spec_compile_options": {}}, "idle-options", "spec.compile_options", "note"),
    "dependencies": ({"spec_dependencies": ["cublas"]}, "idle-dependencies", "spec.dependencies", "note"),
    "a language that is not used": ({"spec_languages": ["triton"]}, "unused-language", "spec.languages", "note"),
    "a misspelt key": ({"spec_compile_option": {}}, "misspelt-key", "spec.compile_option", "warning"),
}  # fmt: skip


@pytest.mark.parametrize("case", PYTHON_SOLUTIONS)
def test_a_trap_of_a_python_solution_is_named(tmp_path: Path, case: str) -> None:
    changes, code, field, level = PYTHON_SOLUTIONS[case]
    finding = _lint_solution(tmp_path, files.solution(**changes))[code]
    assert (finding.field, finding.level) == (field, level)
    assert finding.mend


PYTHON_SOURCES: dict[str, tuple[str, str, str, str]] = {
    # path, content, code, level
    "no entry function": ("main.py", "def other(x): pass", "no-entry-function", "error"),
    "bad syntax": ("main.py", "def run(x, weight, eps:", "bad-syntax", "error"),
    "a path that cannot be imported": (
        "my.kernel.py",
        "def run(x, weight, eps): pass",
        "not-importable",
        "error",
    ),
    "too many arguments": ("main.py", "def run(a, b, c, d): pass", "wrong-arity", "error"),
    "compiling at run time": (
        "main.py",
        "from torch.utils.cpp_extension import load_inline\ndef run(x, weight, eps): pass",
        "runtime-compilation",
        "warning",
    ),
    "a language that is not named": (
        "main.py",
        "import torch, triton\ndef run(x, weight, eps): pass",
        "unnamed-language",
        "warning",
    ),
    "a module of the standard library": (
        "random.py",
        "def run(x, weight, eps): pass",
        "shadowing-name",
        "warning",
    ),
}


@pytest.mark.parametrize("case", PYTHON_SOURCES)
def test_a_trap_in_python_sources_is_named(tmp_path: Path, case: str) -> None:
    path, content, code, level = PYTHON_SOURCES[case]
    sources = [{"path": path, "content": content}]
    found = _lint_solution(tmp_path, files.solution(spec_entry_point=f"{path}::run", sources=sources))
    assert found[code].level == level


@pytest.mark.parametrize(
    "content",
    [
        "def run(x, weight, eps, fast=True): pass",
        "def run(*args): pass",
        "import torch\n@torch.no_grad()\ndef run(x, weight, eps): pass",
        "@decorated\ndef run(): pass",
        "from impl import *",
        "class Run:\n  pass\nrun = Run()",
        "import torch.backends.cudnn\ndef run(x, weight, eps): pass",
    ],
)
def test_honest_python_raises_no_finding(tmp_path: Path, content: str) -> None:
    found = _lint_solution(tmp_path, files.solution(sources=[{"path": "main.py", "content": content}]))
    assert found == {}


CUDA = files.cuda_solution()["sources"][0]
CUDA_SOLUTIONS: dict[str, tuple[dict[str, Any], str, str]] = {
    "no options": ({"spec_compile_options": None}, "no-options", "warning"),
    "empty options": ({"spec_compile_options": {}}, "fast-math", "warning"),
    "partial options": ({"spec_compile_options": {"cflags": ["-O2"]}}, "fast-math", "warning"),
    "link flags without the driver": (
        {"spec_compile_options": {"cuda_cflags": [], "ld_flags": ["-lcublas"]}},
        "no-lcuda",
        "note",
    ),
    "link flags that drop a driver that is called": (
        {
            "spec_compile_options": {"cuda_cflags": [], "ld_flags": []},
            "sources": [{**CUDA, "content": CUDA["content"] + "// cuTensorMapEncodeTiled(x)"}],
        },
        "no-lcuda",
        "warning",
    ),
    "an architecture that is not the target's": (
        {"spec_compile_options": {"cuda_cflags": ["-arch=sm_90a"], "ld_flags": ["-lcuda"]}},
        "own-architecture",
        "warning",
    ),
    "wgmma on LOCAL": (
        {
            "spec_target_hardware": ["LOCAL"],
            "sources": [{**CUDA, "content": CUDA["content"] + 'asm("wgmma.mma_async");'}],
        },
        "plain-architecture",
        "warning",
    ),
    "a file in a folder": (
        {"sources": [CUDA, {"path": "src/more.cu", "content": "int a;"}]},
        "not-compiled",
        "warning",
    ),
    "all files in folders": (
        {"spec_entry_point": "src/kernel.cu::run", "sources": [{**CUDA, "path": "src/kernel.cu"}]},
        "nothing-to-compile",
        "error",
    ),
    "no binding": (
        {"sources": [{"path": "kernel.cu", "content": "void run() {}"}]},
        "no-binding",
        "warning",
    ),
    "a name that is taken": (
        {"sources": [CUDA, {"path": "build_ext.py", "content": "pass"}]},
        "reserved-name",
        "error",
    ),
    "C++ without a language": ({"spec_languages": []}, "not-importable", "error"),
}


@pytest.mark.parametrize("case", CUDA_SOLUTIONS)
def test_a_trap_of_a_cuda_solution_is_named(tmp_path: Path, case: str) -> None:
    changes, code, level = CUDA_SOLUTIONS[case]
    finding = _lint_solution(tmp_path, files.cuda_solution(**changes))[code]
    assert finding.level == level and finding.mend


def test_a_complete_cuda_solution_is_clean(tmp_path: Path) -> None:
    assert _lint_solution(tmp_path, files.cuda_solution()) == {}


def test_packed_fp4_is_explained_to_languages_without_such_a_type(tmp_path: Path) -> None:
    content = files.definition(outputs={"y": {"shape": ["rows"], "dtype": "float4_e2m1fn_x2"}})
    found = _lint_solution(tmp_path, files.cuda_solution(), content)
    assert "low nibble" in found["packed-fp4"].mend


def test_a_solution_without_a_known_task_is_read_by_itself(tmp_path: Path) -> None:
    path = tmp_path / "mine.json"
    path.write_text(json.dumps(files.solution(definition="nowhere_to_be_found")))
    assert [f.code for f in lint_paths([path])] == ["unknown-definition"]


def test_a_solution_is_read_against_the_task_it_names(tmp_path: Path) -> None:
    files.write_problem(tmp_path / "root" / "L1" / "001_scale_rows")
    path = tmp_path / "mine.json"
    path.write_text(json.dumps(files.solution(spec_destination_passing_style=True)))
    assert [f.code for f in lint_paths([path], [tmp_path / "root"])] == ["wrong-arity"]


def test_traces_are_checked_against_each_other_and_the_workloads(tmp_path: Path) -> None:
    files.write_problem(tmp_path)
    other = files.trace(definition="other", evaluation=None)
    files.write_lines(tmp_path / "traces.jsonl", [files.trace(), other])
    found = _codes(lint_paths([tmp_path / "traces.jsonl"]))
    assert set(found) == {"doubled-trace", "mixed-definitions", "half-trace", "unjudged-workloads"}
    assert "w2" in found["unjudged-workloads"].problem


def test_recorded_inputs_are_compared_with_the_definition(tmp_path: Path) -> None:
    import numpy as np
    from safetensors.numpy import save_file

    line = files.workload()
    for name, key in (("x", "x"), ("weight", "gone")):
        line["inputs"][name] = {"type": "safetensors", "path": "data/blob/a.safetensors", "tensor_key": key}
    content = files.definition()
    content["inputs"]["x"]["dtype"] = "float32"
    folder = files.write_problem(tmp_path / "p", content, [line])
    (folder / "blob").mkdir()
    save_file({"x": np.zeros((4, 16), np.float32)}, folder / "blob" / "a.safetensors")
    assert [(f.code, f.field) for f in lint_paths([folder])] == [("blob-mismatch", "line 1: inputs.weight")]
    save_file({"x": np.zeros((5, 16), np.float32)}, folder / "blob" / "a.safetensors")
    assert "[5, 16], not [4, 16]" in lint_paths([folder])[0].problem
    save_file({"x": np.zeros((4, 16), np.int32)}, folder / "blob" / "a.safetensors")
    assert "is I32, not F32" in lint_paths([folder])[0].problem
    (folder / "blob" / "a.safetensors").write_bytes(b"no tensors")
    assert "cannot be read" in lint_paths([folder])[0].problem


def test_files_are_recognised_by_name_or_content(tmp_path: Path) -> None:
    tolerance_only = files.workload(tolerance={"allow_negative_inf": True})
    cases = {
        "a.json": (json.dumps(files.definition(tags=1)), "unknown-key"),
        "b.jsonl": (json.dumps(tolerance_only), "partial-tolerance"),
        "c.json": (json.dumps(files.solution(spec_languages=[])), "no-language"),
        "d.jsonl": (json.dumps(files.trace(evaluation=None)), "half-trace"),
        "e.json": ('{"what": "ever"}', "malformed"),
        "f.jsonl": ("", "malformed"),
    }
    for name, (text, code) in cases.items():
        (tmp_path / name).write_text(text)
        assert code in _codes(lint_paths([tmp_path / name])), name


def test_a_path_that_cannot_be_linted_is_an_error_and_the_rest_is_linted(tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    (tmp_path / "loop.json").symlink_to(tmp_path / "loop.json")
    good = files.write_problem(tmp_path / "p", files.definition(tags=1))
    paths = [tmp_path / "gone.json", tmp_path / "empty", tmp_path / "loop.json", Path("a\0b"), good]
    findings = lint_paths(paths)
    assert [f.level for f in findings] == ["error"] * 4 + ["note"]
    assert all(f.mend for f in findings)


def test_a_data_root_is_linted_whole(tmp_path: Path) -> None:
    files.write_problem(tmp_path / "benchmark" / "L1" / "001_a", files.definition(tags=1))
    files.write_problem(tmp_path / "benchmark" / "Quant" / "001_b", files.definition(hf_id=""))
    (files.write_problem(tmp_path / "benchmark" / "L2" / "001_c") / "definition.json").write_text("{")
    assert sorted(_codes(lint_paths([tmp_path]))) == ["empty-text", "malformed", "unknown-key"]


def test_the_official_problems_carry_the_errata_that_are_known(official_root: Path) -> None:
    findings = lint_paths([official_root])
    count = {code: sum(f.code == code for f in findings) for code in {f.code for f in findings}}
    assert count["misspelt-key"] == 116
    assert count["missing-tolerance"] == 51
    assert count["partial-tolerance"] == 78
    assert {Path(f.file).parent.name[:3] for f in findings if f.code == "missing-blob"} == {
        "012",
        "014",
        "020",
    }
    assert not [f for f in findings if f.level == "error"]
    misspelt = [f for f in findings if f.code == "misspelt-key"]
    assert {f.mend for f in misspelt} == {"write 'required_matched_ratio'"}


def test_every_official_problem_loads_with_its_findings(official_root: Path) -> None:
    from tasks.catalogue import list_tasks

    entries = [entry for entry in list_tasks([official_root]) if entry.source == "dataset"]
    assert len(entries) == 25
    for entry in entries:
        task = load(entry.name, data_roots=[official_root])
        assert len(task.workloads) == entry.workloads and task.subset == entry.subset
        assert all(f.level != "error" for f in task.findings)


def test_what_is_said_of_many_files_is_said_once_for_people(tmp_path: Path) -> None:
    """Numbers and names in quotes may differ; another problem is another line."""
    for name, ratio in (("a", 0.98), ("b", 0.97), ("c", 0.96)):
        tolerance = {"max_atol": 0.01, "max_rtol": 0.01, "required_match_ratio": ratio}
        lines = [files.workload(uuid=f"w{n}", tolerance=tolerance) for n in range(2)]
        files.write_problem(tmp_path / "L1" / f"00{name}", files.definition(), lines)
    findings = lint_paths([tmp_path])
    text = across_files(findings)
    misspelt = [line for line in text if "[misspelt-key]" in line]
    assert sum(f.code == "misspelt-key" for f in findings) == 6
    assert len(misspelt) == 1 and misspelt[0].endswith("(and 5 more like it, 3 files in all)")
    assert len({line.split("[")[-1] for line in text}) == len(text)
