"""Solutions and traces keep their meaning on the way to disk and back."""

import json
from pathlib import Path

import pytest
from jsonschema import Draft202012Validator

from tasks.candidate import Candidate
from tasks.definition import Definition
from tasks.errors import TaskError
from tasks.solution import Solution
from tasks.solution_file import load_solution, write_solution
from tasks.trace import Trace
from tasks.trace_file import read_traces, write_traces
from tests.fakes import official_files as files

DEFINITION = Definition.model_validate(files.definition())
SOLUTIONS = {
    "python": files.solution(),
    "cuda": files.cuda_solution(description="µ-kernel"),
    "cuda without options": files.cuda_solution(spec_compile_options=None),
    "cuda with empty options": files.cuda_solution(spec_compile_options={}),
    "bare": {key: files.solution()[key] for key in ("sources", "spec", "author", "definition", "name")},
}


def _digest(solution: Solution) -> str:
    return Candidate(solution=solution, definition_digest=DEFINITION.digest).digest


@pytest.mark.parametrize("case", SOLUTIONS)
def test_a_solution_reads_back_as_it_was_and_fits_the_schema(
    tmp_path: Path, schemas: Path, case: str
) -> None:
    solution = Solution.model_validate(SOLUTIONS[case])
    text = write_solution(solution)
    (tmp_path / "solution.json").write_text(text)
    again = load_solution(tmp_path / "solution.json", DEFINITION)
    assert again == solution and _digest(again) == _digest(solution)
    assert write_solution(again) == text
    schema = json.loads((schemas / "solution.schema.json").read_text())
    assert Draft202012Validator(schema).is_valid(json.loads(text))


def test_fields_are_written_in_the_official_order_with_defaults_spelt_out(schemas: Path) -> None:
    schema = json.loads((schemas / "solution.schema.json").read_text())
    written = json.loads(write_solution(Solution.model_validate(files.cuda_solution(description="d"))))
    assert list(written) == list(schema["properties"])
    assert list(written["spec"]) == [f for f in schema["$defs"]["BuildSpec"]["properties"] if f != "binding"]
    empty = Solution.model_validate(files.cuda_solution(spec_compile_options={}))
    options = json.loads(write_solution(empty))["spec"]["compile_options"]
    assert options == {"cflags": [], "cuda_cflags": ["-O3", "--use_fast_math"], "ld_flags": ["-lcuda"]}


def test_a_source_without_content_is_read_from_beside_the_file(tmp_path: Path) -> None:
    (tmp_path / "src").mkdir()
    (tmp_path / "src" / "k.py").write_text("def run(x, weight, eps): ...\n")
    content = files.solution(
        spec_entry_point="src/k.py::run", sources=[{"path": "src/k.py"}, {"path": "b.py", "content": "pass"}]
    )
    (tmp_path / "solution.json").write_text(json.dumps(content))
    from_file, from_folder = load_solution(tmp_path / "solution.json"), load_solution(tmp_path)
    assert from_file == from_folder
    assert [source.content for source in from_file.sources] == ["def run(x, weight, eps): ...\n", "pass"]


def test_a_file_outside_is_never_read_for_a_source(tmp_path: Path) -> None:
    (tmp_path / "secret.py").write_text("secret")
    folder = tmp_path / "inner"
    folder.mkdir()
    for path in ("../secret.py", str(tmp_path / "secret.py")):
        content = files.solution(spec_entry_point=f"{path}::run", sources=[{"path": path}])
        (folder / "solution.json").write_text(json.dumps(content))
        with pytest.raises(TaskError) as caught:
            load_solution(folder)
        assert "secret'" not in str(caught.value) and caught.value.field == "sources[0].content"


def test_a_solution_for_another_definition_is_refused_when_the_task_is_known(tmp_path: Path) -> None:
    path = tmp_path / "solution.json"
    path.write_text(json.dumps(files.solution(definition="rope")))
    assert load_solution(path).definition == "rope"
    with pytest.raises(TaskError, match="names 'rope', but the task is '001_scale_rows'"):
        load_solution(path, DEFINITION)
    for name in ("scale_rows", "L1/001_scale_rows", "001_scale_rows"):
        path.write_text(json.dumps(files.solution(definition=name)))
        assert load_solution(path, DEFINITION).definition == name


def test_traces_read_back_as_they_were_and_fit_the_schema(tmp_path: Path, schemas: Path) -> None:
    bare = Trace.model_validate({"definition": "d", "workload": files.workload()})
    traces = (Trace.model_validate(files.trace()), bare)
    text = write_traces(traces)
    (tmp_path / "traces.jsonl").write_text(text)
    assert read_traces(tmp_path / "traces.jsonl") == traces
    schema = Draft202012Validator(json.loads((schemas / "trace.schema.json").read_text()))
    assert [schema.is_valid(json.loads(line)) for line in text.splitlines()] == [True, True]
    assert list(json.loads(text.splitlines()[0])) == ["definition", "workload", "solution", "evaluation"]


def test_a_trace_with_a_figure_that_is_no_number_is_not_written() -> None:
    content = files.trace()
    content["evaluation"]["performance"]["latency_ms"] = float("inf")
    with pytest.raises(ValueError, match="JSON compliant"):
        write_traces([Trace.model_validate(content)])


def test_official_files_are_never_changed_by_reading(official_root: Path) -> None:
    """Every official definition and workload writes back to what it was, unknown keys and gaps aside."""
    from tasks import load
    from tasks.catalogue import list_tasks

    for entry in (e for e in list_tasks([official_root]) if e.source == "dataset"):
        task = load(entry.name, data_roots=[official_root])
        raw = json.loads((Path(entry.location) / "definition.json").read_text())
        ours = task.definition.model_dump(mode="json", exclude_unset=True)
        assert ours == raw and list(ours["inputs"]) == list(raw["inputs"])
        lines = (Path(entry.location) / "workload.jsonl").read_text().splitlines()
        for workload, line in zip(task.workloads, lines, strict=True):
            expected = json.loads(line)
            expected.get("tolerance", {}).pop("required_match_ratio", None)
            assert workload.model_dump(mode="json", exclude_unset=True) == expected
