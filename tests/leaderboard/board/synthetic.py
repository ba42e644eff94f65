"""A benchmark's worth of submissions, drawn from a seed: as large as real ones, and none of them real.

Every submission has 16 workloads, ten processes of 50 official and 12 checked calls each, a roofline prediction
and a kernel of about 4 KB. A few are packed by the project's own code; the others are these with another task,
another digest and another kernel, because packing thousands would take longer than the page that is measured.
"""

import hashlib
import json
from collections.abc import Iterator
from datetime import date
from pathlib import Path
from typing import Any

import numpy as np

from guard.compile_report import Prediction, WorkloadPrediction
from guard.protocol import FINAL
from guard.verdict import Measurement, Verdict, WorkloadVerdict, latency_of
from leaderboard.tables import Provenance, TimeTable, write_table
from submissions.files import EVIDENCE, SAMPLES, SUMS, files, sums
from submissions.package import package
from tasks.solution import SourceFile
from tasks.solution_file import SOLUTION
from tasks.task import Task
from tasks.trace import Status
from tasks.workload import RandomInput, Workload
from tests.submissions.builders import B200, a_candidate, a_context, a_task

BASES = 10
AGENTS = ("reference", "compile", "library", "template", "tuner")
WORKLOADS = 16
T_SOL_MS, T_B_MS = 0.05, 0.2


def task_names(count: int) -> list[str]:
    """As the data set's: `L1/001_problem` and so on, over its four subsets."""
    subsets = ("L1", "L2", "Quant", "FlashInfer-Bench")
    return [f"{subsets[i % 4]}/{i + 1:03d}_problem" for i in range(count)]


def write_submissions(root: Path, tasks: list[str], each: int) -> None:
    """`each` submissions of every task below `root`, in the layout of `submissions/`."""
    bases = [_base(number) for number in range(min(BASES, each * len(tasks)))]
    for t, task in enumerate(tasks):
        for number in range(each):
            _write_variant(root, task, bases[(t * each + number) % len(bases)], t * each + number)


def write_tables(root: Path, tasks: list[str]) -> tuple[Path, Path]:
    """T_SOL and T_b of every task."""
    where = Provenance(source="drawn", retrieved=date(2026, 8, 1), revision="v1.1", hardware="B200")
    written = []
    for quantity, time in (("t_sol", T_SOL_MS), ("t_b", T_B_MS)):
        times = {task: {f"w{i}": time * (i + 1) for i in range(WORKLOADS)} for task in tasks}
        path = root / f"{quantity}.json"
        write_table(TimeTable(quantity=quantity, provenance=where, times_ms=times), path)  # type: ignore[arg-type]
        written.append(path)
    return written[0], written[1]


def _base(seed: int) -> dict[str, bytes]:
    draw = np.random.default_rng(seed)
    task = _task()
    candidate = a_candidate(task)
    source = SourceFile(path="main.py", content=kernel(seed))
    solution = candidate.solution.model_copy(update={"sources": (source,)})
    candidate = candidate.model_copy(update={"solution": solution, "agent": AGENTS[seed % len(AGENTS)]})
    samples = tuple(_measurements(task, draw))
    environment = B200.model_copy(update={"clocks": {"sm_during_mhz": 1500.0}})
    verdict = Verdict(
        task=task.name,
        task_digest=task.digest,
        candidate_digest=candidate.digest,
        status="accepted",
        workloads=tuple(_judged(w, samples) for w in task.workloads),
        measurements=samples,
        environment=environment,
        protocol=FINAL.name,
        protocol_digest=FINAL.digest,
    )
    predictions = (Prediction(hardware="B200", workloads=tuple(map(_foreseen, task.workloads))),)
    return files(package(task, candidate, verdict, context=a_context(verdict, predictions=predictions)))


def _task() -> Task:
    workloads = tuple(
        Workload(axes={"rows": 64 * (i + 1)}, inputs={"x": RandomInput()}, uuid=f"w{i}")
        for i in range(WORKLOADS)
    )
    return a_task(workloads=workloads)


def _measurements(task: Task, draw: np.random.Generator) -> Iterator[Measurement]:
    factor = draw.uniform(0.8, 2.5)
    for number, workload in enumerate(task.workloads):
        for process in range(FINAL.processes):
            middle = T_SOL_MS * (number + 1) * factor * np.exp(draw.normal(0, 0.003))
            for kind, calls in (("official", 50), ("measured", 12)):
                times = middle * np.exp(np.abs(draw.normal(0, 0.01, calls)))
                yield Measurement(
                    workload=workload.uuid, process=process, timer="cupti", kind=kind,  # type: ignore[arg-type]
                    times_ms=tuple(round(float(t), 6) for t in times),
                )  # fmt: skip


def _judged(workload: Workload, samples: tuple[Measurement, ...]) -> WorkloadVerdict:
    return WorkloadVerdict(
        uuid=workload.uuid, axes=workload.axes, status=Status.PASSED, accepted=True, timer="cupti",
        latency_ms=latency_of(samples, workload.uuid), max_absolute_error=1e-6, max_relative_error=1e-5,
        matched_ratio=1.0,
    )  # fmt: skip


def _foreseen(workload: Workload) -> WorkloadPrediction:
    rows = workload.axes["rows"]
    return WorkloadPrediction(
        uuid=workload.uuid, predicted_ms=0.04, bound_by="memory", bytes=rows * 4096, flops=rows * 9000, launches=2
    )  # fmt: skip


def kernel(seed: int) -> str:
    """About 4 KB: most lines are the same in all of them, as in the variants that a tuner tries."""
    head = f'"""Doubles rows, variant {seed}."""\n\nimport torch\nimport triton\nimport triton.language as tl\n\n'
    constants = f"BLOCK = {2 ** (5 + seed % 6)}\nWARPS = {1 << seed % 4}\nSTAGES = {seed % 5 + 1}\nSEED = {seed}\n\n\n"
    pieces = [
        f"@triton.jit\ndef part_{i}(x, y, n, BLOCK: tl.constexpr):\n"
        f"    # the {i}th part: loads, scales and stores one block\n"
        "    place = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)\n"
        f"    value = tl.load(x + place, mask=place < n, other={float(i + seed % 3)})\n"
        "    tl.store(y + place, value * 2.0, mask=place < n)\n\n\n"
        for i in range(12)
    ]
    return head + constants + "".join(pieces) + "def run(x):\n    return x + x\n"


def _write_variant(root: Path, task: str, base: dict[str, bytes], number: int) -> None:
    subset, name = task.split("/")
    evidence: dict[str, Any] = json.loads(base[EVIDENCE])
    digest = hashlib.sha256(f"{task} {number}".encode()).hexdigest()
    evidence["digest"] = digest
    evidence["task"] |= {"name": task, "subset": subset}
    evidence["verdict"]["task"] = task
    solution = json.loads(base[SOLUTION])
    if number % 5:  # one in five is the same kernel again, under another target or protocol
        solution["sources"][0]["content"] = kernel(number)
    content = {
        EVIDENCE: json.dumps(evidence, sort_keys=True, indent=2).encode(),
        SAMPLES: base[SAMPLES],
        SOLUTION: json.dumps(solution, indent=1).encode(),
    }
    folder = root / evidence["readiness"] / subset / name / digest[:12]
    folder.mkdir(parents=True)
    for file, text in {**content, SUMS: sums(content)}.items():
        (folder / file).write_bytes(text)
