"""NVIDIA/SOL-ExecBench in a copy outside of this project: what it wants to find in a folder, and what it says."""

import json
import os
from pathlib import Path
from typing import Any

from tasks.candidate import Candidate
from tasks.task import Task

DRIVER = "eval_driver.py"


def laid_out(evaluator: Path, task: Task, candidate: Candidate, folder: Path) -> dict[str, str]:
    """Everything that its driver reads, in `folder`; the environment in which `python eval_driver.py` runs there."""
    driver = evaluator / "src/sol_execbench/driver/templates" / DRIVER
    files = {
        "definition.json": task.definition.model_dump_json(),
        "workload.jsonl": "\n".join(w.model_dump_json() for w in task.workloads),
        "solution.json": candidate.solution.model_dump_json(),
        "config.json": json.dumps({"benchmark_reference": False}),
        "main.py": candidate.solution.sources[0].content, DRIVER: driver.read_text(),
    }  # fmt: skip
    for name, content in files.items():
        (folder / name).write_text(content)
    path = os.pathsep.join([str(evaluator / "src"), os.environ.get("PYTHONPATH", "")])
    return {**os.environ, "PYTHONPATH": path}


def figures_in(said: str) -> dict[str, dict[str, Any]]:
    """By workload, of the traces among what the driver printed."""
    traces = [json.loads(line) for line in said.splitlines() if line.startswith("{")]
    return {t["workload"]["uuid"]: _figures_of(t["evaluation"]) for t in traces}


def _figures_of(evaluation: dict[str, Any]) -> dict[str, Any]:
    """What a trace of the public evaluator says, in our words."""
    correctness, performance = evaluation.get("correctness") or {}, evaluation.get("performance") or {}
    return {
        "status": evaluation["status"],
        "max_absolute_error": correctness.get("max_absolute_error"),
        "max_relative_error": correctness.get("max_relative_error"),
        "latency_ms": performance.get("latency_ms"),
    }
