"""What does not fit on the target: shared memory, threads, and whatever else its compilers refuse."""

import re
from collections.abc import Iterator

from guard.compile_report import CompileReport
from submissions.transfer.finding import Ruling
from submissions.transfer.moved import Moved
from tasks.gpu import Gpu

MOST_WARPS = 32
"""1,024 threads a block, on every GPU so far."""
_WARPS = re.compile(r"\bnum_warps['\"]?\s*[=:]\s*(\d+)")


def limits(moved: Moved) -> Iterator[tuple[Ruling, str]]:
    """Stages have no limit of their own: what they take is shared memory, which the compilers count."""
    if moved.gpu is None:
        return
    for warps in sorted({int(number) for number in _WARPS.findall(moved.code)}):
        if warps > MOST_WARPS:
            yield "refuse", f"it asks for {warps} warps a block; {moved.target} has room for {MOST_WARPS}"
    reports = [report for report in moved.reports if report.target == moved.gpu.target]
    for report in reports:
        yield from _refusals(report, moved.gpu)
    if moved.has_own_kernels and not any(report.checked for report in reports):
        yield (
            "caution",
            f"its kernels were not compiled for {moved.gpu.target}: whether they fit is not known",
        )


def _refusals(report: CompileReport, gpu: Gpu) -> Iterator[tuple[Ruling, str]]:
    most = gpu.shared_kib_per_block * 1024
    large = [kernel for kernel in report.kernels if kernel.shared_bytes > most]
    for kernel in large:
        yield (
            "refuse",
            f"{kernel.name} takes {kernel.shared_bytes} bytes of shared memory a block; {gpu.name} has {most}",
        )
    for kernel in report.kernels:
        if (kernel.num_warps or 0) > MOST_WARPS:
            yield (
                "refuse",
                f"{kernel.name} takes {kernel.num_warps} warps a block; {gpu.name} has room for {MOST_WARPS}",
            )
    if report.refused and not large:
        said = " ".join(report.error.split())[:200] or "its compilers refuse it"
        yield "refuse", f"it does not compile for {report.target}: {said}"
