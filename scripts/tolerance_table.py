"""Measure every shipped task's tolerance: what share of elements honest and wrong arithmetic match.

    python -m scripts.tolerance_table [TASK ...]    print the figures
    python -m scripts.tolerance_table --write       write all of them into docs/shipped-tasks.md

On the CPU, from fixed seeds. For each task, size and alternative: the smallest matched ratio over outputs, and
the share of the tolerance that the 99.9th percentile of the error takes. Ends with exit code 1 when an honest
alternative matches less than 0.999, or a wrong one as much as the task demands.
"""

import argparse
import sys
from collections.abc import Iterator

import torch

from scripts.alternatives import CASES, Case
from scripts.alternatives.case import Outputs
from scripts.shipped import SHIPPED, ShippedTask
from scripts.shipped.page import PAGE, Match, page
from tasks.inputs import InputGenerator, load_reference
from tasks.workload import Tolerance

SEED = 200


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


def misplaced(match: Match, task: ShippedTask) -> bool:
    """Whether the tolerance fails to tell this alternative's kind."""
    return match.matched < 0.999 if match.honest else match.matched >= task.tolerance.required_matched_ratio


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("tasks", nargs="*", metavar="TASK")
    parser.add_argument("--write", action="store_true", help=f"write {PAGE.name}, which needs all tasks")
    arguments = parser.parse_args()
    wanted = [task for task in SHIPPED if not arguments.tasks or task.name in arguments.tasks]
    matches, failed = [], 0
    for task in wanted:
        for match in measure(task, CASES[task.name]):
            wrongly = misplaced(match, task)
            failed += wrongly
            matches.append(match)
            print(f"{task.name:34} {match}{'  MISPLACED' if wrongly else ''}", flush=True)
    if arguments.write and len(wanted) == len(SHIPPED):
        PAGE.write_text(page(SHIPPED, matches))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
