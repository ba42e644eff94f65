import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from submissions.package import package
from submissions.report import report
from submissions.verify import verify
from submissions.write import write
from tests.submissions.builders import a_candidate, a_context, a_task, a_verdict, draft, measurements, ready


def test_the_first_line_says_what_it_is_and_that_nothing_was_measured() -> None:
    first = report(draft()).splitlines()[0]
    assert first == "# draft: L1/001_double_rows; performance: not measured on the target"
    assert report(ready()).splitlines()[0].startswith("# ready: ")


def test_every_workload_has_its_row_and_every_reason_its_line() -> None:
    submission = draft()
    text = report(submission)
    for workload in submission.workloads:
        assert (
            f"\n| {workload.uuid} | rows {workload.axes['rows']} | PASSED | 1.5e-07 | 2.5e-07 | 1 | " in text
        )
    for reason in submission.evidence.reasons:
        assert f"- {reason.replace('|', chr(92) + '|')}\n" in text


def test_the_commands_can_be_copied_as_they_stand() -> None:
    text = report(draft())
    assert "\nsha256sum -c SHA256SUMS\nkernelarc verify .\nkernelarc evaluate L1/001_double_rows " in text
    assert " --device cpu --protocol final --precision tolerance --traces /tmp/again-" in text
    assert " && make submit TASK=double\n" in text


def test_the_commands_leave_the_folder_as_it_is() -> None:
    """Whatever they write goes elsewhere: a file that does not belong keeps a submission from verifying."""
    block = report(draft()).split("## Again")[1].split("```")[1]
    written = [word for line in block.splitlines() for word in line.split("--traces ")[1:]]
    assert written and all(word.startswith("/tmp/") for word in written)
    search = next(line for line in block.splitlines() if "make submit" in line)
    assert search.index("cd /tmp/") < search.index("make submit")


def test_a_shrunk_workload_names_the_one_it_stands_for() -> None:
    task = a_task(marks=("shrunk",), originals={"w1": "11111111-aaaa"})
    candidate = a_candidate(task)
    verdict = a_verdict(task, candidate)
    assert "shrunk from 11111111-aaaa |" in report(
        package(task, candidate, verdict, context=a_context(verdict))
    )


def test_a_speed_up_is_shown_only_where_the_reference_was_timed() -> None:
    task = a_task()
    candidate = a_candidate(task)
    verdict = a_verdict(task, candidate)
    reference = tuple(m for m in measurements(task, "cupti") if m.workload == "w7")
    rows = report(package(task, candidate, verdict, context=a_context(verdict, reference=reference)))
    cells = {
        line.split(" | ")[0]: line.split(" | ")[8] for line in rows.splitlines() if line.startswith("| w")
    }
    assert cells == {"| w1": "-", "| w7": "1", "| w1024": "-"}


@given(st.text(st.characters(codec="utf-8"), max_size=40), st.text(st.characters(codec="utf-8"), max_size=40))
@settings(max_examples=20, deadline=None)
def test_no_text_breaks_the_table_or_the_verification(
    tmp_path_factory: pytest.TempPathFactory, note: str, strategy: str
) -> None:
    task = a_task()
    candidate = a_candidate(task).model_copy(update={"strategy": strategy})
    verdict = a_verdict(task, candidate)
    workload = verdict.workloads[0].model_copy(update={"note": note})
    verdict = verdict.model_copy(update={"workloads": (workload, *verdict.workloads[1:])})
    submission = package(task, candidate, verdict, context=a_context(verdict))
    row = next(line for line in report(submission).splitlines() if line.startswith("| w1 |"))
    assert row.replace("\\\\", "").replace("\\|", "").count("|") == 11
    assert verify(write(submission, tmp_path_factory.mktemp("root"))) == ()
