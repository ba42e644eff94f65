"""The tasks that the sentinels answer, in the official format: one workload each, sizes that the kernels are frozen to."""

import json
from pathlib import Path
from typing import Any
from uuid import NAMESPACE_URL, uuid5

VECTOR, ADDED, STEPPED = 2**25, 2**22, 4096
SUMMED, MULTIPLIED, GATHERED = (8192, 4096), (2048, 2048, 4096), (8192, 4096)
STEPS, TABLE = 512, 2048
LOWEST = -(TABLE // 2)
"""Integers are drawn from -1024 to 1023 by the official rules, so such a table has a row for each."""

_F32, _BF16, _I32 = "float32", "bfloat16", "int32"
_HEAD = "import torch\n\n\n@torch.no_grad()\ndef run({}):\n"


def _tensor(axes: str, dtype: str) -> dict[str, Any]:
    return {"shape": axes.split(), "dtype": dtype}


def _problem(
    about: str, axes: dict[str, int], inputs: dict[str, Any], outputs: dict[str, Any], body: str, atol: float
) -> dict[str, Any]:
    lines = "".join(f"    {line}\n" for line in body.splitlines())
    return {
        "description": about, "axes": axes, "inputs": inputs, "outputs": outputs, "max_atol": atol,
        "reference": f'"""{about}"""\n\n' + _HEAD.format(", ".join(inputs)) + lines,
    }  # fmt: skip


PROBLEMS: dict[str, dict[str, Any]] = {
    "sentinel_copy": _problem(
        "Every element doubled: 128 MiB read and as much written.",
        {"n": VECTOR}, {"x": _tensor("n", _F32)}, {"y": _tensor("n", _F32)}, "return x * 2", 1e-5,
    ),
    "sentinel_reduce": _problem(
        "The sum of each row: 128 MiB read.",
        dict(zip(("m", "n"), SUMMED, strict=True)), {"x": _tensor("m n", _F32)}, {"total": _tensor("m", _F32)},
        "return x.sum(dim=-1)", 1e-2,
    ),
    "sentinel_arithmetic": _problem(
        f"Every element drawn towards one by a thousandth, {STEPS} times: arithmetic alone, so the clock.",
        {"n": ADDED}, {"x": _tensor("n", _F32)}, {"y": _tensor("n", _F32)},
        f"for _ in range({STEPS}):\n    x = x * 0.999 + 0.001\nreturn x", 1e-4,
    ),
    "sentinel_product": _problem(
        "A product of bf16 matrices, 34 GFLOP on tensor cores.",
        dict(zip(("m", "n", "k"), MULTIPLIED, strict=True)), {"a": _tensor("m k", _BF16), "b": _tensor("k n", _BF16)},
        {"c": _tensor("m n", _BF16)}, "return a @ b", 0.05,
    ),
    "sentinel_gather": _problem(
        "Rows of a table by number: 8,192 of 2,048 different ones.",
        {"count": GATHERED[0], "n": GATHERED[1]},
        {"table": _tensor(f"{TABLE} n", _BF16), "index": _tensor("count", _I32)},
        {"picked": _tensor("count n", _BF16)}, f"return table[index.long() - ({LOWEST})]", 1e-5,
    ),
    "sentinel_launch": _problem(
        "One added to 16 KiB: what it costs to start and end a kernel that does next to nothing.",
        {"n": STEPPED}, {"x": _tensor("n", _F32)}, {"y": _tensor("n", _F32)}, "return x + 1", 1e-5,
    ),
}  # fmt: skip


def write_problem(name: str, folder: Path) -> None:
    """`definition.json` and `workload.jsonl`, the same bytes each time."""
    problem = PROBLEMS[name]
    folder.mkdir(parents=True, exist_ok=True)
    definition = {
        "name": name,
        "axes": {axis: {"type": "var"} for axis in problem["axes"]},
        **{key: problem[key] for key in ("inputs", "outputs", "reference", "description")},
    }
    workload = {
        "axes": problem["axes"],
        "inputs": {given: {"type": "random"} for given in problem["inputs"]},
        "uuid": str(uuid5(NAMESPACE_URL, f"kernelarc:{name}")),
        "tolerance": {"max_atol": problem["max_atol"], "max_rtol": 0.01, "required_matched_ratio": 1.0},
    }
    (folder / "definition.json").write_text(json.dumps(definition, indent=2) + "\n")
    (folder / "workload.jsonl").write_text(json.dumps(workload) + "\n")
