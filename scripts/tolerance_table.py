"""Measure every shipped task's tolerance: what share of elements honest and wrong arithmetic match.

    python -m scripts.tolerance_table [TASK ...]

On the CPU, from fixed seeds. For each task, size and alternative it prints the smallest matched ratio over
outputs, and the share of the tolerance that the 99.9th percentile of the error takes (below 1: all but a
thousandth would pass with a tolerance so much smaller).
"""

import argparse
from collections.abc import Iterator

import torch

from scripts.alternatives import CASES, Case
from scripts.alternatives.case import Outputs
from scripts.shipped import SHIPPED, ShippedTask
from tasks.inputs import InputGenerator, load_reference
from tasks.value import Value
from tasks.workload import Tolerance

SEED = 200


class Match(Value):
    """How one alternative does at one size."""

    task: str
    axes: dict[str, int]
    alternative: str
    honest: bool
    matched: float
    """Smallest share, over outputs, of elements within tolerance."""
    tightness: float
    """99.9th percentile, over elements of the worst output, of error divided by what is allowed."""


def error_over_allowed(output: torch.Tensor, expected: torch.Tensor, tolerance: Tolerance) -> torch.Tensor:
    """Of each element |output - expected| / (atol + rtol * |expected|), in fp32."""
    wanted = expected.float()
    allowed = tolerance.max_atol + tolerance.max_rtol * wanted.abs()
    return ((output.float() - wanted).abs() / allowed).flatten()


def compare(outputs: Outputs, expected: Outputs, tolerance: Tolerance) -> tuple[float, float]:
    """(matched, tightness) of the worst output."""
    shares = [error_over_allowed(o, e, tolerance) for o, e in zip(outputs, expected, strict=True)]
    return (
        min(float((share <= 1.0).float().mean()) for share in shares),
        max(float(share.kthvalue(max(1, int(share.numel() * 0.999))).values) for share in shares),
    )


def measure(task: ShippedTask, case: Case) -> Iterator[Match]:
    definition = task.definition()
    reference = load_reference(definition)
    for axes in case.measured:
        workload = task.workloads()[0].model_copy(update={"axes": dict(axes)})
        inputs = InputGenerator(definition, workload, reference=reference).make(seed=SEED)
        found = reference.run(*inputs)
        expected = found if isinstance(found, tuple) else (found,)
        for honest, alternatives in ((True, case.honest), (False, case.wrong)):
            for name, alternative in alternatives.items():
                matched, tightness = compare(alternative(*inputs), expected, task.tolerance)
                yield Match(
                    task=task.name, axes=dict(axes), alternative=name, honest=honest,
                    matched=matched, tightness=tightness,
                )  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("tasks", nargs="*", metavar="TASK")
    wanted = parser.parse_args().tasks
    for task in SHIPPED:
        if wanted and task.name not in wanted:
            continue
        print(f"{task.name}: atol {task.tolerance.max_atol:g}, rtol {task.tolerance.max_rtol:g}")
        for match in measure(task, CASES[task.name]):
            sizes = " ".join(f"{axis}={value}" for axis, value in match.axes.items())
            kind = "honest" if match.honest else "wrong"
            print(
                f"  {kind:6} {match.alternative:28} {match.matched:.4f} {match.tightness:8.3f}  {sizes}",
                flush=True,
            )


if __name__ == "__main__":
    main()
