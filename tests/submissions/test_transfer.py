"""What may be packaged for a GPU that it was not tuned on (ADR 65)."""

import json
from pathlib import Path
from typing import Any

import pytest

from agents.templates import EVERY_FAMILY
from guard.compile_report import CompileReport, KernelReport
from submissions.files import EVIDENCE, evidence_bytes
from submissions.package import package
from submissions.read import parse_evidence
from submissions.report import report
from submissions.submission import Submission
from submissions.transfer.architectures import named, of_flags
from submissions.transfer.finding import CannotTransfer, TransferFinding
from submissions.transfer.moved import Moved
from submissions.transfer.rules import RULES, transfer
from submissions.verify import verify
from submissions.write import write
from tasks.candidate import Candidate
from tasks.errors import TaskError
from tasks.loading import load
from tasks.solution import BuildSpec, CompileOptions, Hardware, Language, SourceFile
from tests.submissions.builders import B200, CPU, a_candidate, a_context, a_task, a_verdict

H200 = B200.model_copy(update={"device": "NVIDIA H200"})
COMPILED = CompileReport(target="sm_100a", ok=True)

TABLE = """#include <cublasLt.h>
static const int kTable[][3] = {{4096, 67, 20}};
void run(at::Tensor x) { cublasLtMatmulAlgo_t a; cublasLtMatmulAlgoInit(h, c, s, t, t, t, t, kTable[0][1], &a); }
"""
GATED_TABLE = (
    TABLE
    + """
void any(at::Tensor x) {
  if (at::cuda::getCurrentDeviceProperties()->major != 9) at::matmul(x, x);
}
"""
)
WGMMA = '__global__ void f() { asm volatile("wgmma.mma_async.sync.aligned.m64n64k16.f32.bf16.bf16 {};"); }\n'
GATED_WGMMA = f"#if defined(__CUDA_ARCH_FEAT_SM90_ALL)\n{WGMMA}#endif\n" + GATED_TABLE.split("\n", 3)[3]
KERNEL = "import triton\n\n@triton.jit\ndef k(x):\n    pass\n\ndef run(x):\n    k[(1,)](x, num_warps=8, num_stages=3)\n"


def found(
    content: str, *, path: str = "kernel.cu", flags: tuple[str, ...] | None = None, **changes: Any
) -> list[str]:
    """`rule ruling` of every finding, worst first, on the way from an H200 to a B200."""
    cpp = not path.endswith(".py")
    language = Language.CUDA_CPP if cpp else Language.TRITON if "triton" in content else Language.PYTORCH
    spec = BuildSpec(
        languages=(language,),
        target_hardware=(Hardware.LOCAL,),
        entry_point=f"{path}::run",
        compile_options=None if flags is None else CompileOptions(cuda_cflags=flags),
    )
    given = {"judged_on": H200, "target": "B200", "reports": (COMPILED,), **changes}
    sources = (SourceFile(path=path, content=content),)
    return [f"{f.rule} {f.ruling}" for f in transfer(Moved(spec, sources, **given))]


def test_library_calls_move_as_they_are() -> None:
    assert found("import torch\ndef run(x):\n    return torch.matmul(x, x)\n", path="main.py") == ["all ok"]
    chosen_there = "void run() { cublasLtMatmulAlgoGetHeuristic(h, d, a, b, c, c, p, 1, &r, &n); }"
    assert "refuse" not in " ".join(found(chosen_there))


def test_a_table_of_algorithms_is_refused_unless_its_target_takes_another_path() -> None:
    assert found(TABLE)[0] == "algorithm-table refuse"
    assert found(GATED_TABLE)[0] == "algorithm-table caution"
    assert found(TABLE, judged_on=CPU)[0] == "algorithm-table refuse"
    assert found(TABLE, judged_on=B200) == ["all ok"]


def test_a_library_path_without_a_question_for_the_device_is_never_taken() -> None:
    assert found(TABLE + "void other() { at::matmul(x, x); }\n")[0] == "algorithm-table refuse"


def test_a_table_in_a_comment_is_none() -> None:
    assert "algorithm-table" not in " ".join(
        found("// cublasLtMatmulAlgoInit is not called\nvoid run() {}\n")
    )
    docstring = '"""No cublasLtMatmulAlgoInit here."""\ndef run(x):\n    return x  # nor wgmma.fence\n'
    assert found(docstring, path="main.py") == ["all ok"]


@pytest.mark.parametrize(
    ("content", "path"),
    [
        (WGMMA, "kernel.cu"),
        ("using Atom = SM90_64x128x16_F32BF16BF16_SS<a, b>; void run();", "kernel.cu"),
        ("import triton\ndef run(x):\n    hopper.warpgroup_mma(a, b, c)\n", "main.py"),
        ("import flashinfer\ndef run(x):\n    return plan(x, backend='fa3')\n", "main.py"),
    ],
)
def test_what_only_hopper_has_is_refused(content: str, path: str) -> None:
    assert found(content, path=path)[0] == "instructions refuse"
    assert "refuse" not in " ".join(found(content, path=path, target="LOCAL"))


def test_what_is_left_out_on_other_devices_is_a_caution() -> None:
    assert [f for f in found(GATED_WGMMA) if f.startswith("instructions")] == ["instructions caution"]


@pytest.mark.parametrize(
    ("flags", "is_refused"),
    [
        (("-gencode=arch=compute_90a,code=sm_90a",), True),
        (("-gencode", "arch=compute_90,code=sm_90"), True),
        (("-arch=sm_90a",), True),
        (("-arch=sm_90",), False),  # its PTX stays in the file, and later GPUs compile it
        (("-gencode=arch=compute_90,code=compute_90",), False),
        (("-gencode=arch=compute_90a,code=sm_90a", "-gencode=arch=compute_100a,code=sm_100a"), False),
        (("-gencode=arch=compute_120,code=sm_120",), True),
        (("-O3",), False),
    ],
)
def test_machine_code_that_the_target_cannot_load_is_refused(
    flags: tuple[str, ...], is_refused: bool
) -> None:
    assert ("architecture refuse" in found("void run() {}", flags=flags)) is is_refused


def test_which_code_a_gpu_loads() -> None:
    assert [*map(str, of_flags(["-gencode=arch=compute_80,code=[sm_80,compute_80]"]))] == [
        "sm_80",
        "compute_80",
    ]
    codes = named("sm_100 sm_100a sm_100f compute_100 sm_110")
    assert [code.runs_on((10, 3)) for code in codes] == [True, False, True, True, False]


def test_sources_that_are_compiled_by_themselves_name_their_architecture() -> None:
    assert "architecture refuse" in found(
        "def run(x):\n    build('--gpu-architecture=sm_90a')\n", path="main.py"
    )
    assert found("def run(x):\n    build('sm_90a', 'sm_100a')\n", path="main.py") == ["all ok"]
    assert found("NOTE = 'as on sm_90'\ndef run(x):\n    return x\n", path="main.py") == ["all ok"]


def kernel(**changes: Any) -> KernelReport:
    given = {
        "name": "k",
        "target": "sm_100a",
        "registers": 64,
        "spill_bytes": 0,
        "shared_bytes": 1024,
        **changes,
    }
    return KernelReport(**given)


@pytest.mark.parametrize(
    ("report_", "rulings"),
    [
        (COMPILED, []),
        (COMPILED.model_copy(update={"kernels": (kernel(shared_bytes=227 * 1024),)}), []),
        (COMPILED.model_copy(update={"kernels": (kernel(shared_bytes=227 * 1024 + 1),)}), ["limits refuse"]),
        (COMPILED.model_copy(update={"kernels": (kernel(num_warps=33),)}), ["limits refuse"]),
        (CompileReport(target="sm_100a", ok=False, error="ptxas says no"), ["limits refuse"]),
        (CompileReport(target="sm_100a", ok=False, checked=False, error="no nvcc"), ["limits caution"]),
        (CompileReport(target="sm_90a", ok=True), ["limits caution"]),
    ],
)
def test_what_does_not_fit_is_refused(report_: CompileReport, rulings: list[str]) -> None:
    said = found(KERNEL, path="main.py", reports=(report_,))
    assert [s for s in said if s.startswith("limits")] == rulings


def test_more_warps_than_a_block_has_are_refused_before_anything_is_compiled() -> None:
    assert found(KERNEL.replace("num_warps=8", "num_warps=64"), path="main.py")[0] == "limits refuse"


def test_settings_chosen_elsewhere_are_said_to_be_untuned() -> None:
    spec = BuildSpec(
        languages=(Language.TRITON,), target_hardware=(Hardware.LOCAL,), entry_point="main.py::run"
    )
    sources = (SourceFile(path="main.py", content=KERNEL),)
    (finding,) = transfer(Moved(spec, sources, H200, "B200", (COMPILED,)))
    assert (finding.rule, finding.ruling) == ("tuning", "caution")
    assert "num_warps 8, num_stages 3" in finding.sentence
    assert "NVIDIA H200" in finding.sentence
    assert found(KERNEL, path="main.py", judged_on=H200, target="LOCAL") == ["all ok"]
    assert found(KERNEL, path="main.py", judged_on=CPU, target="LOCAL") == ["tuning caution"]


def test_a_grid_for_another_number_of_multiprocessors_is_pointed_at() -> None:
    assert "multiprocessors caution" in found(KERNEL.replace("(1,)", "(132,)"), path="main.py")
    assert "multiprocessors caution" not in found(KERNEL.replace("(1,)", "(148,)"), path="main.py")


def hopper_product(target: Hardware) -> Candidate:
    task = load("l1_bf16_gemm")
    family = EVERY_FAMILY["hopper_gemm"]
    match = family.matches(task)
    return family.render(match, family.knobs(match).start[0]).candidate(task, "template", target)


@pytest.mark.parametrize(("built_for", "worst"), [(Hardware.LOCAL, "refuse"), (Hardware.B200, "caution")])
def test_the_product_for_hopper_moves_only_when_it_is_built_for_the_target(
    built_for: Hardware, worst: str
) -> None:
    solution = hopper_product(built_for).solution
    findings = transfer(Moved(solution.spec, solution.sources, H200, "B200", (COMPILED,)))
    assert findings[0].ruling == worst
    said = {f.rule: f.ruling for f in findings}
    assert said["instructions"] == "caution"
    assert ("architecture" in said) is (built_for is Hardware.LOCAL)


def triton_candidate(content: str) -> Candidate:
    plain = a_candidate(a_task(), languages=(Language.TRITON,))
    sources = (SourceFile(path="main.py", content=content),)
    return plain.model_copy(update={"solution": plain.solution.model_copy(update={"sources": sources})})


def moved_submission(**context: Any) -> Submission:
    candidate = triton_candidate(KERNEL)
    verdict = a_verdict(a_task(), candidate, environment=H200)
    given = {"compile_reports": (COMPILED,), **context}
    return package(a_task(), candidate, verdict, context=a_context(verdict, **given))


def test_the_packager_refuses_and_says_why() -> None:
    candidate = triton_candidate(KERNEL.replace("num_warps=8", "num_warps=64"))
    verdict = a_verdict(a_task(), candidate, environment=H200)
    with pytest.raises(CannotTransfer, match="for B200: it asks for 64 warps a block"):
        package(a_task(), candidate, verdict, context=a_context(verdict))
    package(a_task(), candidate, verdict, target="LOCAL", context=a_context(verdict))


def test_findings_stand_in_the_evidence_and_in_the_report(tmp_path: Path) -> None:
    submission = moved_submission(passed_over=("cannot package abc for B200: it holds a table",))
    folder = write(submission, tmp_path)
    content = json.loads((folder / EVIDENCE).read_bytes())
    assert [(f["rule"], f["ruling"]) for f in content["transfer"]] == [("tuning", "caution")]
    text = report(submission)
    assert "## What it carries over to B200\n\n- caution (tuning): its tile sizes" in text
    assert "\n- passed over: cannot package abc for B200: it holds a table\n" in text
    assert verify(folder) == ()


def test_verify_reads_the_sources_again(tmp_path: Path) -> None:
    """Evidence that claims ok is made consistent with itself: only the sources still give it away."""
    folder = write(moved_submission(), tmp_path)
    evidence = parse_evidence((folder / EVIDENCE).read_bytes())
    smooth = (TransferFinding(rule="all", ruling="ok", sentence="nothing"),)
    forged = type(evidence).of(evidence.model_copy(update={"transfer": smooth}))
    (folder / EVIDENCE).write_bytes(evidence_bytes(forged))
    assert ("evidence.json", "transfer[0].rule") in {(d.file, d.field) for d in verify(folder)}


def test_verify_objects_to_a_refused_candidate_whoever_packaged_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    candidate = triton_candidate(KERNEL.replace("num_warps=8", "num_warps=64"))
    verdict = a_verdict(a_task(), candidate, environment=H200)
    monkeypatch.setattr("submissions.package.transfer", lambda moved: ())
    submission = package(a_task(), candidate, verdict, context=a_context(verdict))
    with pytest.raises(TaskError, match="does not verify"):
        write(submission, tmp_path)
    found = {(d.file, d.field) for d in verify(tmp_path / submission.folder)}
    assert ("solution.json", "sources") in found


def test_every_rule_speaks_in_one_of_these_tests() -> None:
    said = " ".join(
        [
            *found(TABLE),
            *found(WGMMA, flags=("-arch=sm_90a",)),
            *found(KERNEL + "G = 132\n", path="main.py", reports=()),
        ]
    )
    assert {name for name in RULES if name in said} == set(RULES)
