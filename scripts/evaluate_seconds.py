"""How long an evaluation takes: the reference as the solution, the first three workloads, ten official rounds.

    python -m scripts.evaluate_seconds --out FILE [TASK ...]

Cold: a new session, whose zygote has yet to import torch. Warm: the zygote is there, the reference process and
everything else is new.
"""

import json
import time
from pathlib import Path
from typing import Any

import click

import tasks
from guard.judge import judge
from guard.protocol import SMOKE
from guard.session import Session
from scripts.oracle_agreement import variants

_ROWS = (
    "FlashInfer-Bench/009_gemm_n5120_k2048",
    "L1/017_moe_expert_swiglu_with_down_projection_backward",
    "L1/048_fused_gate_up_projection_with_swiglu",
    "L2/002_decoder_layer_full_block",
)


def measure(name: str) -> dict[str, Any]:
    """Seconds of the same evaluation, cold and warm."""
    task = tasks.load(name)
    task = task.model_copy(update={"workloads": task.workloads[:3]})
    candidate = variants(task)["eager"]
    began = time.monotonic()
    with Session("cuda") as session:
        verdict = judge(task, candidate, SMOKE, session)
        cold = time.monotonic() - began
    with Session("cuda") as session:
        session.zygote.wait()
        began = time.monotonic()
        verdict = judge(task, candidate, SMOKE, session)
        warm = time.monotonic() - began
    return {
        "task": name, "cold_s": round(cold, 2), "warm_s": round(warm, 2), "status": verdict.status,
        "latency_ms": [w.latency_ms for w in verdict.workloads],
        "environment": verdict.environment.model_dump(mode="json"),
    }  # fmt: skip


@click.command(help=__doc__)
@click.option("--out", type=click.Path(path_type=Path), required=True)
@click.argument("names", nargs=-1)
def main(out: Path, names: tuple[str, ...]) -> None:
    rows = []
    for name in names or _ROWS:
        rows.append(measure(name))
        click.echo(
            f"{name}: cold {rows[-1]['cold_s']} s, warm {rows[-1]['warm_s']} s, {rows[-1]['status']}",
            err=True,
        )
    record = {
        "command": "python -m scripts.evaluate_seconds", "rows": rows,
        "cold_s": round(sum(r["cold_s"] for r in rows), 2), "warm_s": round(sum(r["warm_s"] for r in rows), 2),
    }  # fmt: skip
    out.write_text(json.dumps(record, indent=1))
    click.echo(f"in all: cold {record['cold_s']} s, warm {record['warm_s']} s", err=True)


if __name__ == "__main__":
    main()
