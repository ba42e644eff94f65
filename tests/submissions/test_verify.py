import gzip
import hashlib
import json
import os
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from submissions.discrepancy import Discrepancy
from submissions.evidence import Evidence
from submissions.files import NAMES, evidence_bytes, files, sums
from submissions.read import parse_evidence, read
from submissions.report import report
from submissions.samples import pack, unpack
from submissions.verify import verify
from submissions.write import write
from tasks.errors import TaskError
from tasks.solution import Solution
from tasks.value import digest_of
from tests.submissions.builders import a_task, draft, ready


@pytest.fixture(scope="module")
def untouched(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write(ready(), tmp_path_factory.mktemp("root"))


@pytest.fixture
def folder(untouched: Path, tmp_path: Path) -> Path:
    """A copy to be spoilt, under the same path below its root."""
    copy = tmp_path.joinpath(*untouched.parts[-4:])
    shutil.copytree(untouched, copy)
    return copy


def sum_again(folder: Path) -> None:
    content = {path.name: path.read_bytes() for path in folder.iterdir()}
    (folder / "SHA256SUMS").write_bytes(sums(content))


def places(discrepancies: tuple[Discrepancy, ...]) -> set[tuple[str, str]]:
    return {(d.file, d.field) for d in discrepancies}


@pytest.mark.parametrize("name", NAMES)
@given(draw=st.data())
@settings(max_examples=100, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_one_changed_byte_anywhere_is_found(untouched: Path, name: str, draw: st.DataObject) -> None:
    path = untouched / name
    original = path.read_bytes()
    place = draw.draw(st.integers(0, len(original) - 1))
    byte = draw.draw(st.integers(0, 255).filter(lambda b: b != original[place]))
    try:
        path.write_bytes(original[:place] + bytes([byte]) + original[place + 1 :])
        found = verify(untouched)
    finally:
        path.write_bytes(original)
    assert name in {d.file for d in found}


@pytest.mark.parametrize("name", NAMES)
def test_a_file_cut_short_or_lengthened_is_found(folder: Path, name: str) -> None:
    original = (folder / name).read_bytes()
    for spoilt in (original[:-1], original[: len(original) // 2], b"", original + b"\n", original * 2):
        (folder / name).write_bytes(spoilt)
        assert name in {d.file for d in verify(folder)}


@pytest.mark.parametrize("name", NAMES)
def test_a_missing_file_is_named(folder: Path, name: str) -> None:
    (folder / name).unlink()
    assert (name, "name") in places(verify(folder))


def test_an_extra_file_and_a_link_are_named(folder: Path) -> None:
    (folder / "notes.txt").write_text("")
    shutil.move(folder / "REPORT.md", folder.parent / "elsewhere.md")
    os.symlink(folder.parent / "elsewhere.md", folder / "REPORT.md")
    assert {("notes.txt", "name"), ("REPORT.md", "kind")} <= places(verify(folder))


def test_a_folder_renamed_where_submissions_are_kept_is_named_with_the_mend(folder: Path) -> None:
    moved = folder.rename(folder.parent / "0123456789ab")
    (found,) = verify(moved)
    assert (found.file, found.field) == ("0123456789ab", "name of the folder")
    assert "rename it to that" in found.problem and folder.name in found.problem


def test_a_folder_under_any_name_elsewhere_holds(folder: Path, tmp_path: Path) -> None:
    assert verify(folder.rename(tmp_path / "my best one")) == ()


def test_a_draft_moved_among_what_is_ready_is_named(tmp_path: Path) -> None:
    folder = write(draft(), tmp_path)
    smuggled = tmp_path / "ready" / folder.relative_to(tmp_path / "draft")
    shutil.copytree(folder, smuggled)
    assert places(verify(smuggled)) == {(folder.name, "place of the folder")}


@pytest.mark.parametrize("shelf", ["L1/other", "L1", ""])
def test_a_draft_among_what_is_ready_is_named_on_whatever_shelf_it_lies(tmp_path: Path, shelf: str) -> None:
    folder = write(draft(), tmp_path)
    smuggled = tmp_path / "ready" / shelf / folder.name
    shutil.copytree(folder, smuggled)
    assert places(verify(smuggled)) == {(folder.name, "place of the folder")}


@pytest.mark.parametrize("name", [None, "notes.txt"])
def test_a_folder_with_nothing_of_a_submission_in_it_is_bad_input(tmp_path: Path, name: str | None) -> None:
    if name is not None:
        (tmp_path / name).write_text("")
    with pytest.raises(TaskError, match="holds nothing of a submission"):
        verify(tmp_path)


def test_a_folder_copied_elsewhere_still_verifies(folder: Path, tmp_path: Path) -> None:
    copy = shutil.copytree(folder, tmp_path / "inbox" / folder.name)
    assert verify(copy) == ()


def test_what_is_no_folder_is_bad_input(tmp_path: Path) -> None:
    for place in (tmp_path / "nowhere", tmp_path / "file"):
        (tmp_path / "file").write_text("")
        with pytest.raises(TaskError, match="not a submission's folder"):
            verify(place)


def leaves(content: Any, path: tuple[str | int, ...] = ()) -> Iterator[tuple[str | int, ...]]:
    if isinstance(content, dict | list) and content:
        items = content.items() if isinstance(content, dict) else enumerate(content)
        for key, value in items:
            yield from leaves(value, (*path, key))
    else:
        yield path


def changed(value: Any) -> Any:
    match value:
        case bool():
            return not value
        case int() | float():
            return value + 1
        case str():
            return f"{value}0"
        case None:
            return "something"
        case _:
            return ["something"] if isinstance(value, list) else {"some": "thing"}


def emptied(value: Any) -> Any:
    match value:
        case bool():
            return not value
        case int() | float():
            return -1
        case str():
            return ""
        case None:
            return 0
        case _:
            return None


def change(content: Any, path: tuple[str | int, ...], how: Callable[[Any], Any] = changed) -> None:
    for key in path[:-1]:
        content = content[key]
    content[path[-1]] = how(content[path[-1]])


def rewritten(name: str, content: Any) -> bytes:
    if name == "evidence.json":
        return (json.dumps(content, sort_keys=True, indent=2, ensure_ascii=False) + "\n").encode()
    return (json.dumps(content, indent=2, ensure_ascii=False) + "\n").encode()


@pytest.mark.parametrize("how", [changed, emptied])
@pytest.mark.parametrize("name", ["evidence.json", "solution.json"])
def test_every_single_field_changed_is_found_though_the_sums_are_made_again(
    folder: Path, name: str, how: Callable[[Any], Any]
) -> None:
    original = (folder / name).read_bytes()
    paths = list(leaves(json.loads(original)))
    assert len(paths) > (50 if name == "evidence.json" else 8)
    for path in paths:
        content = json.loads(original)
        change(content, path, how)
        if content == json.loads(original):
            continue  # it was empty before
        (folder / name).write_bytes(rewritten(name, content))
        sum_again(folder)
        assert name in {d.file for d in verify(folder)}, path


def test_every_single_field_of_a_trace_changed_is_found_though_the_sums_are_made_again(folder: Path) -> None:
    original = (folder / "traces.jsonl").read_bytes()
    lines = original.splitlines()
    for number, line in enumerate(lines):
        for path in leaves(json.loads(line)):
            content = json.loads(line)
            change(content, path)
            spoilt = [*lines[:number], json.dumps(content, ensure_ascii=False).encode(), *lines[number + 1 :]]
            (folder / "traces.jsonl").write_bytes(b"".join(s + b"\n" for s in spoilt))
            sum_again(folder)
            found = verify(folder)
            assert found, path
            if path[0] == "evaluation" and path[1] != "status":
                assert ("traces.jsonl", f"line {number + 1}: {'.'.join(map(str, path))}") in places(found)


def test_a_faster_sample_is_found_though_everything_that_can_be_is_made_again(folder: Path) -> None:
    samples = unpack((folder / "samples.jsonl.gz").read_bytes())
    faster = tuple(
        m.model_copy(update={"times_ms": (0.001,) * 3}) if m.workload == "w1" and m.process == 9 else m
        for m in samples.candidate
    )
    (folder / "samples.jsonl.gz").write_bytes(pack(samples._replace(candidate=faster)))
    sum_again(folder)
    assert {
        ("evidence.json", "verdict_digest"),
        ("evidence.json", "samples_digest"),
        ("evidence.json", "verdict.workloads[0].latency_ms"),
    } <= places(verify(folder))


def test_a_latency_bettered_in_verdict_and_digest_still_disagrees_with_the_samples(folder: Path) -> None:
    forged = forge(folder, lambda content: content["verdict"]["workloads"][2].update(latency_ms=0.001))
    assert ("evidence.json", "verdict.workloads[2].latency_ms") in places(verify(forged))


def test_a_draft_that_calls_itself_ready_is_found_though_its_digest_is_made_again(tmp_path: Path) -> None:
    folder = write(draft(), tmp_path)
    content = json.loads((folder / "evidence.json").read_bytes())
    content.update(readiness="ready", reasons=[])
    (folder / "evidence.json").write_bytes(rewritten("evidence.json", content))
    sum_again(folder)
    assert {("evidence.json", "readiness"), ("evidence.json", "reasons")} <= places(verify(folder))


def test_a_status_bettered_with_its_digest_disagrees_with_the_verdicts_own(folder: Path) -> None:
    forged = forge(folder, lambda content: content["verdict"].update(marks=["shrunk"]))
    assert ("evidence.json", "verdict_digest") in places(verify(forged))


def forge(folder: Path, edit: Callable[[dict[str, Any]], None]) -> Path:
    """Edits the evidence, then makes its digest, the sums and the folder's name again."""
    content = json.loads((folder / "evidence.json").read_bytes())
    edit(content)
    evidence = Evidence.of(Evidence.model_validate(content))
    (folder / "evidence.json").write_bytes(evidence_bytes(evidence))
    sum_again(folder)
    return folder.rename(folder.parent / evidence.digest[:12])


def test_swapped_sources_are_found_though_digest_and_sums_are_made_again(folder: Path) -> None:
    content = json.loads((folder / "solution.json").read_bytes())
    content["sources"][0]["content"] = "def run(x):\n    return x * 2\n"
    (folder / "solution.json").write_bytes(rewritten("solution.json", content))
    sum_again(folder)
    assert {("evidence.json", "candidate.digest"), ("evidence.json", "solution_digest")} <= places(
        verify(folder)
    )


def test_a_solution_redescribed_with_every_digest_made_again_is_not_what_the_facts_give(folder: Path) -> None:
    content = json.loads((folder / "solution.json").read_bytes())
    content["description"] = "performance: twice as fast"
    (folder / "solution.json").write_bytes(rewritten("solution.json", content))
    digest = digest_of(Solution.model_validate(content).model_dump(mode="json"))
    forged = forge(folder, lambda evidence: evidence.update(solution_digest=digest))
    assert ("solution.json", "description") in places(verify(forged))


@pytest.mark.parametrize("device", ["", "x" * 10_000])
def test_facts_that_give_no_valid_trace_are_a_discrepancy(folder: Path, device: str) -> None:
    forged = forge(folder, lambda content: content["verdict"]["environment"].update(device=device))
    assert "traces.jsonl" in {d.file for d in verify(forged)}


def test_the_task_loaded_again_shows_a_changed_tolerance(folder: Path) -> None:
    task = a_task()
    assert verify(folder, task) == ()
    loose = task.workloads[0].tolerance.model_copy(update={"max_atol": 1.0})
    workload = task.workloads[0].model_copy(update={"tolerance": loose})
    other = a_task(workloads=(workload, *task.workloads[1:]))
    assert {("evidence.json", "task.digest"), ("evidence.json", "task.workloads_digest")} == places(
        verify(folder, other)
    )


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("evidence.json", b'{"a": NaN}'),
        ("evidence.json", b"[" * 100_000),
        ("evidence.json", b"\xff\xfe"),
        ("evidence.json", b'{"format": "kernelarc-evidence-2"}'),
        ("solution.json", b'{"name": "\\ud800"}'),
        ("solution.json", b"[]"),
        ("traces.jsonl", b"null\n"),
        ("traces.jsonl", b"{"),
        ("samples.jsonl.gz", gzip.compress(b"{}\n", mtime=0)),
        ("samples.jsonl.gz", pack(unpack(files(ready())["samples.jsonl.gz"])._replace(candidate=()))),
        ("REPORT.md", b"\xff"),
        ("SHA256SUMS", b"\xff\xff  \n\n  "),
    ],
)
def test_nothing_that_a_file_may_hold_breaks_verify(folder: Path, name: str, content: bytes) -> None:
    (folder / name).write_bytes(content)
    for again in (False, True):
        if again and name != "SHA256SUMS":
            sum_again(folder)
        found = verify(folder)
        assert found
        assert all(d.problem and d.field and d.file for d in found)


def test_a_doubled_key_is_found_though_the_sums_are_made_again(folder: Path) -> None:
    text = (folder / "evidence.json").read_text()
    (folder / "evidence.json").write_text(text.replace('{\n  "', '{\n  "target": "B200",\n  "', 1))
    sum_again(folder)
    assert "evidence.json" in {d.file for d in verify(folder)}


def test_an_edited_report_is_named_by_its_line(folder: Path) -> None:
    lines = (folder / "REPORT.md").read_text().splitlines(keepends=True)
    lines[4] = "| submission | mine |\n"
    (folder / "REPORT.md").write_text("".join(lines))
    sum_again(folder)
    assert places(verify(folder)) == {("REPORT.md", "line 5")}


def test_a_report_made_by_another_version_says_so(folder: Path) -> None:
    forged = forge(folder, lambda content: content["versions"].update(kernelarc="0.0.1"))
    (found,) = (d for d in verify(forged) if d.file == "REPORT.md")
    assert "made by kernelarc 0.0.1" in found.problem


def test_the_sums_are_those_that_sha256sum_reads(folder: Path) -> None:
    for line in (folder / "SHA256SUMS").read_text().splitlines():
        digest, name = line.split("  ")
        assert hashlib.sha256((folder / name).read_bytes()).hexdigest() == digest


def test_what_was_written_is_read_back_whole(folder: Path) -> None:
    assert parse_evidence((folder / "evidence.json").read_bytes()) == ready().evidence
    assert report(ready()).encode() == (folder / "REPORT.md").read_bytes()


def test_a_submission_is_read_back_as_it_was_packaged(folder: Path) -> None:
    assert read(folder) == ready()
    (folder / "traces.jsonl").write_bytes(b"{\n")
    with pytest.raises(TaskError, match=r"traces\.jsonl"):
        read(folder)
