"""Whatever is wrong with a file, the user reads one sentence: file, field, mend."""

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tasks import load
from tasks.errors import TaskError
from tasks.solution_file import load_solution
from tasks.trace_file import read_traces
from tests.fakes import official_files as files

Spoil = Callable[[Path], object]


def _definition(**changes: Any) -> Spoil:
    return lambda folder: (folder / "definition.json").write_text(json.dumps(files.definition(**changes)))


def _workload(**changes: Any) -> Spoil:
    second = files.workload(2, **changes)
    return lambda folder: files.write_lines(folder / "workload.jsonl", [files.workload(1), second])


def _text(name: str, text: str | bytes) -> Spoil:
    content = text if isinstance(text, bytes) else text.encode()
    return lambda folder: (folder / name).write_bytes(content)


def _axes(**axes: Any) -> Spoil:
    return _definition(axes={**files.definition()["axes"], **axes})


def _loop(folder: Path) -> None:
    (folder / "definition.json").unlink()
    (folder / "definition.json").symlink_to(folder / "definition.json")


def _folder_instead(folder: Path) -> None:
    (folder / "workload.jsonl").unlink()
    (folder / "workload.jsonl").mkdir()


def _pipe(folder: Path) -> None:
    (folder / "workload.jsonl").unlink()
    os.mkfifo(folder / "workload.jsonl")


def _huge(folder: Path) -> None:
    with (folder / "workload.jsonl").open("wb") as file:
        file.truncate(5 * 2**30)  # sparse: takes no room


WHOLE = json.dumps(files.definition())
LINE = json.dumps(files.workload(2))
FIRST = json.dumps(files.workload(1)) + "\n"

CASES: dict[str, tuple[Spoil, str, str]] = {
    # what is wrong: how it is spoilt, the field that is named, a word of the problem
    "truncated JSON": (_text("definition.json", WHOLE[:-40]), "line 1 column", "not JSON"),
    "an empty file": (_text("definition.json", ""), "line 1 column 1", "not JSON"),
    "a truncated line": (_text("workload.jsonl", FIRST + LINE[:50]), "line 2: column", "not JSON"),
    "a list for an object": (_text("definition.json", "[]"), "whole file", "not an empty list"),
    "a number for an object": (_text("workload.jsonl", FIRST + "7\n"), "line 2", "not the number 7"),
    "bytes that are no UTF-8": (_text("definition.json", b'{"name": "\xff"}'), "", "not UTF-8"),
    "a byte-order mark": (_text("definition.json", b"\xef\xbb\xbf" + WHOLE.encode()), "", "byte-order mark"),
    "UTF-16": (_text("definition.json", WHOLE.encode("utf-16")), "", "byte-order mark"),
    "half a surrogate pair": (_definition(description="\ud800"), "description", "surrogate"),
    "a bomb of brackets": (_text("definition.json", "[" * 200_000), "whole file", "too deeply"),
    "a bomb of objects": (_text("workload.jsonl", '{"a":' * 100_000), "line 1", "too deeply"),
    "a number without end": (_text("workload.jsonl", '{"axes": ' + "9" * 10_000 + "}"), "line 1", "digits"),
    "a huge file": (_huge, "", "more than the 64 MiB"),
    "a folder where a file should be": (_folder_instead, "", "is a folder"),
    "a pipe where a file should be": (_pipe, "", "not a regular file"),
    "a loop of links": (_loop, "", "loop of symbolic links"),
    "no definition": (lambda folder: (folder / "definition.json").unlink(), "", "definition.json"),
    "no workload file": (lambda folder: (folder / "workload.jsonl").unlink(), "", "does not exist"),
    "an empty workload file": (_text("workload.jsonl", "\n \n"), "", "no workload"),
    "a missing field": (
        _text("workload.jsonl", FIRST + '{"axes": {}, "inputs": {}}'),
        "line 2: uuid",
        "is missing",
    ),
    "text for a size": (_workload(axes={"rows": "many"}), "line 2: axes.rows", "whole number"),
    "a negative size": (_workload(axes={"rows": -1}), "line 2: axes.rows", "at least 0"),
    "half a size": (_workload(axes={"rows": 1.5}), "line 2: axes.rows", "whole number"),
    "a list for a mapping": (
        _workload(inputs=[]),
        "line 2: inputs",
        "should be an object, not an empty list",
    ),
    "an unknown source": (_workload(inputs={"x": {"type": "randm"}}), "line 2: inputs.x.type", "'randm'"),
    "a source that is no object": (_workload(inputs={"x": 3}), "line 2: inputs.x", "an object"),
    "a blob without key": (
        _workload(inputs={"x": {"type": "safetensors", "path": "a"}}),
        "line 2: inputs.x.tensor_key",
        "is missing",
    ),
    "custom beside random": (
        _workload(inputs={"x": {"type": "custom"}, "weight": {"type": "random"}}),
        "line 2: inputs",
        "custom",
    ),
    "custom without an entry point": (
        _workload(inputs={"x": {"type": "custom"}}),
        "line 2: inputs.x",
        "no custom_inputs_entrypoint",
    ),
    "NaN in a tolerance": (
        _text("workload.jsonl", FIRST + LINE.replace('"max_atol": 0.01', '"max_atol": NaN')),
        "line 2: tolerance.max_atol",
        "nan",
    ),
    "infinity in a tolerance": (
        _text("workload.jsonl", FIRST + LINE.replace('"max_atol": 0.01', '"max_atol": -Infinity')),
        "line 2: tolerance.max_atol",
        "inf",
    ),
    "a number beyond floats": (
        _text("workload.jsonl", FIRST + LINE.replace('"max_atol": 0.01', '"max_atol": 1e999')),
        "line 2: tolerance.max_atol",
        "inf",
    ),
    "a ratio that none can reach": (
        _workload(tolerance={"required_matched_ratio": 98}),
        "line 2: tolerance.required_matched_ratio",
        "98",
    ),
    "an axis of 2^31": (_workload(axes={"rows": 2**31}), "line 2: axes.rows", r"2\^31"),
    "an axis of four hundred digits": (_workload(axes={"rows": 10**400}), "line 2: axes.rows", r"2\^31"),
    "a constant of 2^40": (_axes(half={"type": "const", "value": 2**40}), "line 1: axes", r"2\^31"),
    "tensors that fill no memory": (
        _workload(axes={"rows": 2**31 - 1, "half": 2**20}),
        "line 2: axes",
        "TiB|GiB",
    ),
    "the same uuid twice": (_workload(uuid="w1"), "line 1: uuid", "'w1'"),
    "a blob path that climbs": (
        _workload(inputs={"x": {"type": "safetensors", "path": "../../etc/x", "tensor_key": "x"}}),
        "line 2: inputs.x.path",
        r"\.\.",
    ),
    "an axis without a value": (_workload(axes={}), "line 2: axes", "'rows'"),
    "an axis that depends on itself": (
        _axes(columns={"type": "expr", "expression": "columns + 1"}),
        "axes.columns.expression",
        "on itself",
    ),
    "a cycle of axes": (
        _axes(columns={"type": "expr", "expression": "b"}, b={"type": "expr", "expression": "columns * 2"}),
        "axes.columns.expression",
        "itself through 'b'",
    ),
    "an axis used before it is computed": (
        _axes(columns={"type": "expr", "expression": "b"}, b={"type": "expr", "expression": "half"}),
        "axes.columns.expression",
        "stands later",
    ),
    "an expression with an unknown axis": (
        _axes(columns={"type": "expr", "expression": "wide * 2"}),
        "axes.columns.expression",
        "'wide'",
    ),
    "an expression that is a program": (
        _axes(columns={"type": "expr", "expression": "__import__('os').getpid()"}),
        "axes.columns.expression",
        "__import__",
    ),
    "an exponent tower": (
        _axes(columns={"type": "expr", "expression": "9**9**9**9"}),
        "axes.columns.expression",
        "too large",
    ),
    "a division by zero": (
        _axes(columns={"type": "expr", "expression": "half // 0"}),
        "axes.columns.expression",
        "zero",
    ),
    "an axis below zero": (_axes(columns={"type": "expr", "expression": "half - 9"}), "line 1: axes", "-1"),
    "half an axis": (
        _axes(columns={"type": "expr", "expression": "half / 3"}),
        "axes.columns.expression",
        "integer",
    ),
    "a division by what a workload gives": (
        _axes(columns={"type": "expr", "expression": "half // (rows - 4)"}),
        "line 1: axes",
        "zero",
    ),
    "a length in digits that make no number": (
        _definition(outputs={"y": {"shape": ["rows", "\u00b2"], "dtype": "bfloat16"}}),
        "outputs.y.shape",
        "is not defined",
    ),
    "text that reads as NaN": (
        _workload(tolerance={**files.workload()["tolerance"], "max_atol": "nan"}),
        "line 2: tolerance.max_atol",
        "no JSON number",
    ),
    "a scalar that reads as infinity": (
        _workload(inputs={**files.workload()["inputs"], "eps": {"type": "scalar", "value": "inf"}}),
        "line 2: inputs.eps.value",
        "no JSON number",
    ),
    "an unknown dtype": (
        _definition(outputs={"y": {"shape": ["rows"], "dtype": "bfloat61"}}),
        "outputs.y.dtype",
        "'bfloat61'",
    ),
    "an unknown kind of axis": (_axes(rows={"type": "variable"}), "axes.rows.type", "'variable'"),
    "a reference that does not parse": (_definition(reference="def run(:"), "reference", "not valid Python"),
    "a reference with a NUL": (
        _definition(reference="def run(x, weight, eps): pass\0"),
        "reference",
        "not valid",
    ),
    "a reference nested too deeply": (
        _definition(reference="def run(x, weight, eps):\n  return " + "(" * 9000),
        "reference",
        "not valid Python",
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_a_malformed_task_is_one_sentence(tmp_path: Path, case: str) -> None:
    spoil, field, word = CASES[case]
    folder = files.write_problem(tmp_path / "problem")
    load(str(folder))  # it was good before
    spoil(folder)
    with pytest.raises(TaskError, match=word) as caught:
        load(str(folder))
    _is_one_sentence(caught.value, folder, field)


def _is_one_sentence(error: TaskError, folder: Path, field: str) -> None:
    sentence = str(error)
    assert "\n" not in sentence and len(sentence) < 500
    assert str(folder) in str(error.file)
    assert (error.field or "").startswith(field)
    assert error.mend and sentence.endswith(error.mend)


def _solution(**changes: Any) -> Spoil:
    return lambda folder: (folder / "solution.json").write_text(json.dumps(files.solution(**changes)))


def _and(*paths: str) -> Spoil:
    """The good source, and others of these paths after it."""
    more = [{"path": path, "content": "x = 1\n"} for path in paths]
    return _solution(sources=[*files.solution()["sources"], *more])


SOLUTIONS: dict[str, tuple[Spoil, str, str]] = {
    "truncated JSON": (_text("solution.json", '{"name": "a", '), "line 1 column", "not JSON"),
    "lower-case hardware": (_solution(spec_target_hardware=["local"]), "spec.target_hardware[0]", "'LOCAL'"),
    "no hardware": (_solution(spec_target_hardware=[]), "spec.target_hardware", "not empty"),
    "an unknown language": (_solution(spec_languages=["cuda"]), "spec.languages[0]", "cuda"),
    "a missing entry file": (_solution(spec_entry_point="gone.py::run"), "spec.entry_point", "gone.py"),
    "a climbing source": (
        _solution(sources=[{"path": "../main.py", "content": "x"}]),
        "sources[0].path",
        "leaves",
    ),
    "a climbing source without content": (
        _solution(sources=[{"path": "../../../etc/hostname"}]),
        "sources[0].",
        "missing|leaves",
    ),
    "a source without content or file": (
        _solution(sources=[{"path": "main.py"}]),
        "sources[0].content",
        "missing",
    ),
    "a zero byte in a source's path": (_and("a\0b.py"), "sources[1].path", "zero byte"),
    "a source that is no file": (_and("."), "sources[1].path", "names no file"),
    "a source whose name is too long": (_and("a" * 5000), "sources[1].path", "longer"),
    "a source whose path is too long": (_and("abc/" * 400 + "a.py"), "sources[1].path", "longer"),
    "a file where a folder is needed": (
        _and("a", "a/b.py"),
        "sources[1].path",
        r"sources\[2\] needs a folder",
    ),
    "a source twice by two spellings": (_and("./main.py"), "sources[1].path", r"sources\[0\] again"),
    "no sources": (_solution(sources=[]), "sources", "not empty"),
    "sources that are no list": (_solution(sources={"main.py": "x"}), "sources", "a list"),
    "a style that is no yes or no": (
        _solution(spec_destination_passing_style="maybe"),
        "spec.destination_passing_style",
        "true or false",
    ),
    "flags that are no list": (
        _solution(spec_compile_options={"cflags": "-O3"}),
        "spec.compile_options.cflags",
        "a list",
    ),
}


@pytest.mark.parametrize("case", SOLUTIONS)
def test_a_malformed_solution_is_one_sentence(tmp_path: Path, case: str) -> None:
    spoil, field, word = SOLUTIONS[case]
    spoil(tmp_path)
    with pytest.raises(TaskError, match=word) as caught:
        load_solution(tmp_path / "solution.json")
    _is_one_sentence(caught.value, tmp_path, field)


def test_a_folder_without_a_solution_is_said_to_be_one(tmp_path: Path) -> None:
    with pytest.raises(TaskError, match=r"is a folder without solution\.json; give the solution file itself"):
        load_solution(tmp_path)


def test_a_malformed_trace_is_named_by_its_line(tmp_path: Path) -> None:
    good = files.trace()
    bad = files.trace(evaluation={**good["evaluation"], "status": "FAILED"})
    path = files.write_lines(tmp_path / "traces.jsonl", [good, bad])
    with pytest.raises(TaskError, match="'FAILED'") as caught:
        read_traces(path)
    _is_one_sentence(caught.value, tmp_path, "line 2: evaluation.status")


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_an_unreadable_file_is_one_sentence(tmp_path: Path) -> None:
    folder = files.write_problem(tmp_path / "problem")
    (folder / "definition.json").chmod(0)
    with pytest.raises(TaskError, match="may not be read") as caught:
        load(str(folder))
    _is_one_sentence(caught.value, folder, "")


@pytest.mark.parametrize(
    "name", ["", ".", "/", "\0", "a\0b", "x" * 5000, "~nobody/x", "..", "L1/", "/etc/hostname"]
)
def test_a_name_that_means_nothing_is_one_sentence(name: str) -> None:
    with pytest.raises(TaskError) as caught:
        load(name)
    sentence = str(caught.value)
    assert "\n" not in sentence and len(sentence) < 600 and caught.value.mend
