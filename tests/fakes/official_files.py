"""Small official files, as content and on disk."""

import json
from pathlib import Path
from typing import Any

REFERENCE = "import torch\n\n\ndef run(x, weight, eps):\n    return x * weight + eps\n"


def definition(**changes: Any) -> dict[str, Any]:
    return {
        "name": "001_scale_rows",
        "op_type": "elementwise",
        "axes": {
            "rows": {"type": "var", "description": "tokens"},
            "half": {"type": "const", "value": 8},
            "columns": {"type": "expr", "expression": "half * 2"},
        },
        "inputs": {
            "x": {"shape": ["rows", "columns"], "dtype": "bfloat16"},
            "weight": {"shape": ["columns"], "dtype": "bfloat16", "description": "per column"},
            "eps": {"shape": None, "dtype": "float32"},
        },
        "outputs": {"y": {"shape": ["rows", "columns"], "dtype": "bfloat16"}},
        "reference": REFERENCE,
        "description": "Scales every row.",
        "hf_id": "someone/some-model",
        **changes,
    }


def workload(number: int = 1, **changes: Any) -> dict[str, Any]:
    return {
        "axes": {"rows": 4 * number},
        "inputs": {
            "x": {"type": "random"},
            "weight": {"type": "random"},
            "eps": {"type": "scalar", "value": 0.5},
        },
        "uuid": f"w{number}",
        "tolerance": {
            "max_atol": 0.01,
            "max_rtol": 0.01,
            "required_matched_ratio": 0.99,
            "max_error_cap": 1.0,
        },
        **changes,
    }


def solution(**changes: Any) -> dict[str, Any]:
    """A Python solution; `spec_` prefixed changes go into its spec."""
    spec = {key.removeprefix("spec_"): changes.pop(key) for key in list(changes) if key.startswith("spec_")}
    return {
        "name": "scale-rows-1",
        "definition": "001_scale_rows",
        "author": "someone",
        "spec": {
            "languages": ["pytorch"],
            "target_hardware": ["B200"],
            "entry_point": "main.py::run",
            "dependencies": [],
            "destination_passing_style": False,
            **spec,
        },
        "sources": [
            {"path": "main.py", "content": "def run(x, weight, eps):\n    return x * weight + eps\n"}
        ],
        **changes,
    }


def cuda_solution(**changes: Any) -> dict[str, Any]:
    content = (
        "#include <torch/extension.h>\nvoid run() {}\n"
        'PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) { m.def("run", &run); }\n'
    )
    whole = {
        "spec_languages": ["cuda_cpp"],
        "spec_entry_point": "kernel.cu::run",
        "spec_compile_options": {"cflags": [], "cuda_cflags": ["-O3"], "ld_flags": ["-lcuda"]},
        "sources": [{"path": "kernel.cu", "content": content}],
    }
    return solution(**{**whole, **changes})


def trace(**changes: Any) -> dict[str, Any]:
    return {
        "definition": "001_scale_rows",
        "workload": workload(),
        "solution": "scale-rows-1",
        "evaluation": {
            "status": "PASSED",
            "environment": {"hardware": "NVIDIA B200", "libs": {"torch": "2.9.0"}},
            "timestamp": "2026-08-01T00:00:00",
            "log": "",
            "correctness": {"max_relative_error": 0.1, "max_absolute_error": 0.01, "extra": {"rounds": 10}},
            "performance": {"latency_ms": 0.5, "reference_latency_ms": 1.0, "speedup_factor": 2.0},
        },
        **changes,
    }


def write_problem(
    folder: Path, content: dict[str, Any] | None = None, workloads: list[dict[str, Any]] | None = None
) -> Path:
    """A problem folder with `definition.json` and `workload.jsonl`."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "definition.json").write_text(json.dumps(definition() if content is None else content))
    write_lines(folder / "workload.jsonl", [workload(1), workload(2)] if workloads is None else workloads)
    return folder


def write_lines(path: Path, objects: list[dict[str, Any]]) -> Path:
    path.write_text("".join(json.dumps(o) + "\n" for o in objects))
    return path


def write_parquet(path: Path, problems: list[tuple[dict[str, Any], list[dict[str, Any]]]]) -> Path:
    """A parquet file with the columns of the public data set: nested fields as JSON text."""
    import pyarrow
    import pyarrow.parquet

    path.parent.mkdir(parents=True, exist_ok=True)
    rows = [
        {
            "name": content["name"],
            "description": content.get("description", ""),
            "hf_id": content.get("hf_id"),
            "axes": json.dumps(content["axes"]),
            "inputs": json.dumps(content["inputs"]),
            "outputs": json.dumps(content["outputs"]),
            "reference": content["reference"],
            "custom_inputs_entrypoint": content.get("custom_inputs_entrypoint"),
            "workloads": json.dumps(workloads),
        }
        for content, workloads in problems
    ]
    pyarrow.parquet.write_table(pyarrow.Table.from_pylist(rows), path)
    return path
