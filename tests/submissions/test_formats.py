import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from submissions.files import files
from submissions.formats import FORMATS
from submissions.package import package
from submissions.submission import Submission
from tasks.errors import TaskError
from tasks.solution import CompileOptions
from tasks.trace import Status
from tests.submissions.builders import a_context, a_cpp_candidate, a_task, a_verdict, draft, ready

SCHEMAS = Path(__file__).parents[1] / "schemas"


def schema(name: str) -> Any:
    return json.loads((SCHEMAS / f"{name}.schema.json").read_text())


def cpp(options: CompileOptions | None) -> Submission:
    task = a_task()
    candidate = a_cpp_candidate(task, options)
    verdict = a_verdict(task, candidate)
    failed = verdict.workloads[0].model_copy(
        update={"status": Status.INCORRECT_SHAPE, "latency_ms": None, "timer": None}
    )
    untimed = tuple(m for m in verdict.measurements if m.workload != failed.uuid)
    verdict = verdict.model_copy(
        update={"workloads": (failed, *verdict.workloads[1:]), "measurements": untimed}
    )
    return package(task, candidate, verdict, context=a_context(verdict))


SUBMISSIONS: dict[str, Callable[[], Submission]] = {
    "ready": ready,
    "draft": draft,
    "cpp": lambda: cpp(None),
    "cpp with flags": lambda: cpp(CompileOptions(cuda_cflags=("-O3",), ld_flags=())),
}


@pytest.mark.parametrize("kind", SUBMISSIONS)
def test_what_is_written_fits_the_official_schemas(kind: str) -> None:
    content = files(SUBMISSIONS[kind]())
    jsonschema.validate(json.loads(content["solution.json"]), schema("solution"))
    for line in content["traces.jsonl"].splitlines():
        jsonschema.validate(json.loads(line), schema("trace"))


@pytest.mark.parametrize("kind", SUBMISSIONS)
@pytest.mark.parametrize("name", FORMATS)
def test_every_format_reads_back_the_solution_it_wrote(name: str, kind: str) -> None:
    submission, form = SUBMISSIONS[kind](), FORMATS[name]
    assert form.read(form.write(submission)) == submission.solution


@pytest.mark.parametrize("name", FORMATS)
@pytest.mark.parametrize("spoil", [b"", b"{}", b"[1]", b"\xff", b"{" * 100_000])
def test_no_format_reads_what_it_never_writes(name: str, spoil: bytes) -> None:
    with pytest.raises((TaskError, ValueError)):
        FORMATS[name].read(spoil)


@pytest.mark.parametrize("name", FORMATS)
def test_an_added_key_is_not_read_over(name: str) -> None:
    content = json.loads(FORMATS[name].write(ready()))
    content["speedup"] = 9
    with pytest.raises(ValueError, match="written again"):
        FORMATS[name].read((json.dumps(content, indent=2, ensure_ascii=False) + "\n").encode())


def test_keys_stand_in_the_official_order_and_sources_are_inline() -> None:
    content = json.loads(files(ready())["solution.json"])
    assert list(content) == ["name", "definition", "author", "spec", "sources", "description"]
    assert "zweifach" in content["sources"][0]["content"]


def test_what_is_emitted_draws_no_lint_error_or_warning() -> None:
    for make in (ready, draft, lambda: cpp(None)):
        levels = {finding.level for finding in make().evidence.lint}
        assert levels <= {"note"}, make().evidence.lint


def test_lint_is_of_the_file_that_is_uploaded() -> None:
    findings = cpp(CompileOptions(cuda_cflags=("-O3", "-arch=sm_90a"))).evidence.lint
    assert "own-architecture" in {finding.code for finding in findings}
