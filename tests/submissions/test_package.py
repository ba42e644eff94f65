import json
from pathlib import Path
from typing import Any

import pytest

from guard.compile_report import CompileReport, KernelReport, Prediction, WorkloadPrediction
from guard.protocol import FINAL, SEARCH, Protocol
from guard.verdict import Reason, ReasonCode, Verdict
from submissions.facts import Provenance, Target
from submissions.package import package
from submissions.report import report
from submissions.submission import Submission
from tasks.candidate import Candidate
from tasks.solution import CompileOptions
from tasks.task import LintFinding, Task
from tasks.trace import Status
from tests.submissions.builders import (
    B200,
    CPU,
    a_candidate,
    a_context,
    a_cpp_candidate,
    a_task,
    a_verdict,
    draft,
    measurements,
    ready,
)


def packaged(
    task: Task | None = None, *, target: Target = "B200", protocol: Protocol = FINAL, **changes: Any
) -> Submission:
    task = task or a_task()
    candidate = a_candidate(task)
    verdict = a_verdict(task, candidate, protocol=protocol, **changes)
    return package(task, candidate, verdict, target=target, context=a_context(verdict, protocol))


def with_workload(verdict: Verdict, number: int, **changes: Any) -> Verdict:
    workloads = list(verdict.workloads)
    workloads[number] = workloads[number].model_copy(update=changes)
    return verdict.model_copy(update={"workloads": tuple(workloads)})


def test_what_was_judged_on_the_target_is_ready() -> None:
    submission = ready()
    assert submission.readiness == "ready"
    assert submission.evidence.reasons == ()
    assert submission.evidence.performance == "performance: measured on NVIDIA B200"
    assert submission.folder.parts[:3] == ("ready", "L1", "001_double_rows")
    assert submission.folder.name == submission.digest[:12]


def test_what_was_judged_on_a_cpu_is_a_draft_that_says_so() -> None:
    submission = draft()
    assert submission.readiness == "draft"
    assert submission.folder.parts[0] == "draft"
    assert submission.evidence.performance == "performance: not measured on the target"
    assert "performance: not measured on the target" in (submission.solution.description or "")
    assert submission.traces[0].evaluation is not None
    assert submission.traces[0].evaluation.environment.hardware == CPU.device


@pytest.mark.parametrize("mark", ["shrunk", "synthetic-inputs"])
def test_a_marked_verdict_can_never_be_ready(mark: str) -> None:
    submission = packaged(marks=(mark,))
    assert submission.readiness == "draft"
    assert any(mark in reason for reason in submission.evidence.reasons)


@pytest.mark.parametrize("mark", ["shrunk", "synthetic-inputs"])
def test_a_marked_task_can_never_be_ready_even_when_the_verdict_forgot(mark: str) -> None:
    assert packaged(a_task(marks=(mark,))).readiness == "draft"


def test_a_task_with_originals_counts_as_shrunk_even_when_the_mark_was_forgotten() -> None:
    assert packaged(a_task(originals={"w1": "w0"})).readiness == "draft"


@pytest.mark.parametrize(
    ("environment", "word"),
    [
        (B200.model_copy(update={"device": "NVIDIA H200"}), "not measured on the target"),
        (B200.model_copy(update={"device": "NVIDIA GB200"}), "not measured on the target"),
        (B200.model_copy(update={"isolation": "subprocess"}), "isolation subprocess"),
        (B200.model_copy(update={"isolation": "vm-buffers+netns+seccomp"}), "landlock missing"),
        (B200.model_copy(update={"other_processes": 1}), "other compute processes"),
    ],
)
def test_a_device_that_is_not_as_it_should_be_makes_a_draft(environment: Any, word: str) -> None:
    submission = packaged(environment=environment)
    assert submission.readiness == "draft"
    assert any(word in reason for reason in submission.evidence.reasons)


def test_any_gpu_is_the_target_local_and_a_cpu_is_not() -> None:
    h200 = B200.model_copy(update={"device": "NVIDIA H200"})
    assert packaged(target="LOCAL", environment=h200).readiness == "ready"
    assert packaged(target="LOCAL", environment=CPU, timer="wall").readiness == "draft"


@pytest.mark.parametrize(
    ("protocol", "word"),
    [
        (SEARCH, "protocol search"),
        (FINAL.model_copy(update={"timed_calls": 5}), "timed_calls is 5"),
        (FINAL.model_copy(update={"official_seed": 1}), "official_seed is 1"),
        (FINAL.model_copy(update={"processes": 2}), "in 2 processes"),
    ],
)
def test_a_protocol_below_the_official_one_makes_a_draft(protocol: Protocol, word: str) -> None:
    submission = packaged(protocol=protocol)
    assert any(word in reason for reason in submission.evidence.reasons)


def test_another_timer_than_cupti_makes_a_draft() -> None:
    assert any("cuda-events" in reason for reason in packaged(timer="cuda-events").evidence.reasons)


def test_a_workload_that_the_official_rounds_fail_makes_a_draft() -> None:
    task = a_task()
    candidate = a_candidate(task)
    verdict = with_workload(a_verdict(task, candidate), 1, status=Status.INCORRECT_NUMERICAL)
    submission = package(task, candidate, verdict, context=a_context(verdict))
    assert submission.evidence.reasons == ("workload w7: the official rounds say INCORRECT_NUMERICAL",)
    evaluation = submission.traces[1].evaluation
    assert evaluation is not None
    assert evaluation.performance is None
    assert evaluation.correctness is not None


def test_a_lint_error_on_the_solution_makes_a_draft_and_one_on_the_official_task_does_not() -> None:
    error = LintFinding(
        level="error", code="misspelt-key", file="f", field="x", problem="is misspelt", mend="write y"
    )
    task = a_task(findings=(error,))
    candidate = a_candidate(task)
    verdict = a_verdict(task, candidate)
    assert package(task, candidate, verdict, context=a_context(verdict)).readiness == "ready"
    context = a_context(verdict, lint=(error,))
    assert package(task, candidate, verdict, context=context).evidence.reasons == (
        "lint: f `x`: is misspelt",
    )


def refusals() -> dict[str, tuple[Task, Candidate, Verdict, Provenance]]:
    task = a_task()
    candidate = a_candidate(task)
    verdict = a_verdict(task, candidate)
    context = a_context(verdict)
    other = a_candidate(task, destination_passing_style=True)
    fewer = a_task(workloads=task.workloads[:2])
    rejected = verdict.model_copy(
        update={"status": "rejected", "reason": Reason(code=ReasonCode.NUMERICAL, message="wrong")}
    )
    stranger = verdict.measurements[0].model_copy(update={"workload": "nowhere"})
    mixed = tuple(
        m.model_copy(update={"timer": "wall"}) if m.process == 3 else m for m in verdict.measurements
    )
    return {
        "rejects the candidate": (task, candidate, rejected, context),
        "is about candidate": (task, other, verdict, context),
        "is about task": (fewer, candidate, verdict, context),
        "another definition": (
            task,
            candidate.model_copy(update={"definition_digest": "0" * 64}),
            verdict,
            context,
        ),
        "another protocol": (task, candidate, verdict, a_context(verdict, SEARCH)),
        "one by one": (
            task,
            candidate,
            verdict.model_copy(update={"workloads": verdict.workloads[::-1]}),
            context,
        ),
        "unknown workloads": (
            task,
            candidate,
            verdict.model_copy(update={"measurements": (*verdict.measurements, stranger)}),
            context,
        ),
        "the median of the samples is": (task, candidate, with_workload(verdict, 0, latency_ms=0.1), context),
        "the samples were timed by": (
            task,
            candidate,
            verdict.model_copy(update={"measurements": mixed}),
            context,
        ),
        "passed without this figure": (
            task,
            candidate,
            with_workload(verdict, 2, max_absolute_error=None),
            context,
        ),
    }


@pytest.mark.parametrize("sentence", refusals())
def test_a_verdict_that_does_not_belong_here_is_refused(sentence: str) -> None:
    task, candidate, verdict, context = refusals()[sentence]
    with pytest.raises(ValueError, match=sentence):
        package(task, candidate, verdict, context=context)


def test_a_moment_without_an_offset_is_refused() -> None:
    with pytest.raises(ValueError, match="no UTC offset"):
        Provenance(protocol=FINAL, judged_at="2026-01-02T03:04:05")


def test_the_digest_covers_every_field_that_changes_behaviour() -> None:
    task = a_task()
    cpp = a_cpp_candidate
    options = CompileOptions(cuda_cflags=("-O3",))
    plain = a_candidate(task)
    renamed_source = plain.solution.sources[0].model_copy(
        update={"content": "def run(x):\n    return 2 * x\n"}
    )
    candidates = [
        plain,
        a_candidate(task, destination_passing_style=True),
        a_candidate(task, dependencies=("einops",)),
        plain.model_copy(
            update={"solution": plain.solution.model_copy(update={"sources": (renamed_source,)})}
        ),
        cpp(task, None),
        cpp(task, options),
        cpp(task, CompileOptions(cuda_cflags=("-O3", "-lineinfo"))),
        cpp(task, CompileOptions(cuda_cflags=("-O3",), ld_flags=())),
    ]
    made = {
        package(task, candidate, verdict, target=target, context=a_context(verdict)).digest
        for candidate in candidates
        for target in ("B200", "LOCAL")
        for precision in ("strict", "tolerance")
        for verdict in [a_verdict(task, candidate, precision=precision)]
    }
    assert len(made) == len(candidates) * 2 * 2


@pytest.mark.parametrize(
    ("given", "written"),
    [
        (None, {"cflags": [], "cuda_cflags": [], "ld_flags": ["-lcuda"]}),
        (
            CompileOptions(),
            {"cflags": [], "cuda_cflags": ["-O3", "--use_fast_math"], "ld_flags": ["-lcuda"]},
        ),
        (
            CompileOptions(cuda_cflags=("-O2",)),
            {"cflags": [], "cuda_cflags": ["-O2"], "ld_flags": ["-lcuda"]},
        ),
    ],
)
def test_flags_of_cpp_are_written_out_as_the_evaluator_would_fill_them_in(
    given: CompileOptions | None, written: dict[str, list[str]]
) -> None:
    task = a_task()
    candidate = a_cpp_candidate(task, given)
    verdict = a_verdict(task, candidate)
    spec = package(task, candidate, verdict, context=a_context(verdict)).solution.spec
    assert json.loads(spec.model_dump_json())["compile_options"] == written


def test_python_solutions_carry_no_compile_options() -> None:
    task = a_task()
    candidate = a_candidate(task, compile_options=CompileOptions())
    verdict = a_verdict(task, candidate)
    assert package(task, candidate, verdict, context=a_context(verdict)).solution.spec.compile_options is None


def test_the_target_the_definition_and_the_terms_are_rewritten() -> None:
    solution = ready().solution
    assert [hardware.value for hardware in solution.spec.target_hardware] == ["B200"]
    assert solution.definition == "double_rows"
    assert (solution.description or "").splitlines() == [
        "Adds the rows to themselves.",
        "strategy: one pass (agent template)",
        "precision policy: tolerance (whatever passes the official tolerance with margin)",
        "performance: measured on NVIDIA B200",
    ]


def test_packing_a_packed_solution_again_does_not_repeat_its_terms() -> None:
    task = a_task()
    first = a_candidate(task)
    again = first.model_copy(update={"solution": draft().solution})
    verdict = a_verdict(task, again)
    description = package(task, again, verdict, context=a_context(verdict)).solution.description or ""
    assert description.count("performance: ") == description.count("strategy: ") == 1
    assert "not measured" not in description


def test_traces_carry_the_medians_of_the_official_samples_and_the_recorded_time() -> None:
    submission = ready()
    for trace, judged in zip(submission.traces, submission.verdict.workloads, strict=True):
        assert trace.evaluation is not None
        assert trace.evaluation.performance is not None
        assert trace.evaluation.performance.latency_ms == judged.latency_ms
        assert trace.evaluation.performance.reference_latency_ms == 0.0
        assert trace.evaluation.performance.speedup_factor == 0.0
        assert trace.evaluation.timestamp == "2026-01-02T03:04:05+00:00"
        assert trace.solution == submission.solution.name


def test_a_reference_that_was_timed_gives_a_speed_up() -> None:
    task = a_task()
    candidate = a_candidate(task)
    verdict = a_verdict(task, candidate)
    reference = tuple(
        m.model_copy(update={"times_ms": tuple(2 * t for t in m.times_ms)})
        for m in measurements(task, "cupti")
    )
    submission = package(task, candidate, verdict, context=a_context(verdict, reference=reference))
    evaluation = submission.traces[0].evaluation
    assert evaluation is not None
    assert evaluation.performance is not None
    assert evaluation.performance.speedup_factor == 2.0


def test_reports_of_compilers_and_predictions_are_kept_whole() -> None:
    task = a_task()
    candidate = a_candidate(task)
    verdict = a_verdict(task, candidate)
    kernel = KernelReport(name="rows", target="sm_100a", registers=255, spill_bytes=8, shared_bytes=1024)
    compiled = CompileReport(target="sm_100a", ok=True, kernels=(kernel,), seconds=1.5)
    guess = WorkloadPrediction(
        uuid="w1", predicted_ms=0.0123456789, bound_by="memory", bytes=512, flops=64, launches=1
    )
    predicted = Prediction(hardware="B200", workloads=(guess,), note="one pass")
    context = a_context(verdict, compile_reports=(compiled,), predictions=(predicted,))
    submission = package(task, candidate, verdict, context=context)
    assert submission.evidence.compile_reports == (compiled.model_copy(update={"seconds": 0.0}),)
    assert submission.evidence.predictions == (predicted,)
    text = report(submission)
    assert "rows: 255 registers, 8 bytes spilt, 1024 bytes shared\n" in text
    assert "w1: 0.0123457 ms, bound by memory\n" in text


def test_packing_leaves_nothing_on_disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    ready()
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("l2_decoder", "l2_decoder"),
        ("../../etc/passwd", "passwd"),
        ("a b|c", "a_b_c"),
        ("..", None),
        ("/", None),
    ],
)
def test_no_task_name_can_climb_out_of_its_folder(name: str, expected: str | None) -> None:
    submission = packaged(a_task(name=name, subset=None))
    assert submission.folder.parts[1] == "other"
    assert submission.folder.parts[2] == (expected or submission.evidence.task.definition_digest[:12])
    assert len(submission.folder.parts) == 4
