"""The museum on a GPU: the cases that need one. C++ builds beside the others, which therefore come first."""

import itertools
import os
import shutil
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path

import pytest

from guard.blame import CandidateFailed
from guard.judge import judge
from guard.languages import build
from guard.languages.cpp import MODULE
from guard.protocol import SMOKE
from guard.session import Session
from guard.staging import Stage
from guard.verdict import Verdict
from tests.museum.cases import CASES, Case
from tests.museum.tasks import TASKS

_BUILD_LIMIT_S = 300.0
"""Several compilers share the cores."""
_LIMITS = {"build_limit_s": 60.0, "evaluation_limit_s": 120.0}
Builds = dict[str, "Future[Path | None]"]


def gpu_cases() -> list[Case]:
    """Python first, and those of one task together, so that its reference is made ready once."""
    cases = [case for case in CASES.values() if case.device == "gpu"]
    return sorted(cases, key=lambda case: (case.candidate().solution.spec.is_cpp, case.task, case.name))


def build_ahead(case: Case, root: Path) -> Path | None:
    """Its library; None where it is not meant to become one: what fails here fails again in the judgement."""
    stage = Stage(case.candidate(), root)
    try:
        build(case.candidate(), stage, _BUILD_LIMIT_S, "cuda")
    except CandidateFailed:
        return None
    return stage.built / f"{MODULE}.so"


@pytest.fixture(scope="module")
def builds(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Builds]:
    """Every C++ exhibit, on all cores but one, from before the first judgement on."""
    torch = pytest.importorskip("torch")
    if not torch.cuda.is_available():
        pytest.skip("there is no CUDA device")
    root = tmp_path_factory.mktemp("builds")
    with ThreadPoolExecutor(max(1, (os.cpu_count() or 2) - 1)) as pool:
        yield {
            case.name: pool.submit(build_ahead, case, root)
            for case in gpu_cases()
            if case.candidate().solution.spec.is_cpp
        }
        pool.shutdown(cancel_futures=True)


@pytest.fixture(scope="module")
def gpu_session(builds: Builds) -> Iterator[Session]:
    with Session("cuda") as opened:
        yield opened


def judged(case: Case, session: Session, builds: Builds) -> Verdict:
    ready = builds[case.name].result() if case.name in builds else None
    if ready is not None:  # a judgement builds nothing that its stage holds already
        shutil.copy2(ready, Stage(case.candidate(), session.scratch).built / ready.name)
    protocol = SMOKE.model_copy(update={"measured_calls": 8, "precision": case.precision, **_LIMITS})
    return judge(TASKS[case.task](), case.candidate(), protocol, session)


@pytest.mark.gpu
@pytest.mark.parametrize("case", gpu_cases(), ids=lambda case: case.name)
def test_an_exhibit_is_judged_as_it_deserves(case: Case, gpu_session: Session, builds: Builds) -> None:
    """A cheat for one of its own reasons, an honest look-alike accepted, a neutral trick without a gain."""
    verdict = judged(case, gpu_session, builds)
    if case.expected == "accept":
        assert verdict.status == "accepted", (verdict.reason, verdict.log)
    elif case.expected == "reject" or verdict.reason is not None:
        assert verdict.reason is not None, f"got through: {case.why}"
        assert verdict.reason.code in case.reasons, (verdict.reason, verdict.log)
    else:
        _gains_nothing(verdict, case, gpu_session)


def _gains_nothing(verdict: Verdict, case: Case, session: Session) -> None:
    """Against the plain product on the same task and device; 0.7 of its time is the least that is believed."""
    task = TASKS[case.task]()
    honest = CASES["honest_plain_product"].candidate()
    control = honest.model_copy(update={"definition_digest": task.definition.digest})
    fair = judge(task, control, SMOKE, session)
    pairs = zip(verdict.workloads, fair.workloads, strict=True)
    assert all((mine.latency_ms or 0.0) >= 0.7 * (theirs.latency_ms or 0.0) for mine, theirs in pairs)


def test_what_needs_no_compiler_is_judged_while_one_is_at_work() -> None:
    compiled = [case.candidate().solution.spec.is_cpp for case in gpu_cases()]
    assert compiled == sorted(compiled) and True in compiled
    tasks = [case.task for case in gpu_cases() if not case.candidate().solution.spec.is_cpp]
    changes = sum(a != b for a, b in itertools.pairwise(tasks))
    assert changes == len(set(tasks)) - 1


def test_a_library_that_was_built_ahead_is_not_built_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The judgement's own stage, filled by the path that `judged` uses."""
    case = CASES["gpu_honest_cuda_kernel"]
    monkeypatch.setattr("guard.languages.cpp.shutil.which", lambda name: name)
    monkeypatch.setattr("guard.languages.cpp.gpu_architecture", lambda: "9.0")
    built: list[str] = []

    def compiler(module: str, request: dict[str, str], **_: object) -> dict[str, None]:
        built.append(request["folder"])
        (Path(request["folder"]) / f"{MODULE}.so").write_bytes(b"a library")
        return {"error": None}

    monkeypatch.setattr("guard.languages.cpp.run_program", compiler)
    ready = build_ahead(case, tmp_path / "ahead")
    assert ready is not None
    shutil.copy2(ready, Stage(case.candidate(), tmp_path / "session").built / ready.name)
    entry = build(case.candidate(), Stage(case.candidate(), tmp_path / "session"), 1.0, "cuda")
    assert entry[0] == f"{MODULE}.so" and len(built) == 1
