"""`python -m guard.cross_compile REQUEST REPLY`: runs the candidate's code, so it belongs in a sandbox."""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path

from guard.cross_compile.request import Reply, Request


def main(argv: list[str]) -> None:
    request = Request.model_validate_json(Path(argv[1]).read_text())
    started = time.monotonic()
    folder = Path(request.folder)
    _settle(folder)
    reply = (
        _examine_cpp(request, folder, started)
        if request.solution.spec.is_cpp
        else _examine(request, folder, started)
    )
    Path(argv[2]).write_text(reply.model_dump_json())


def _settle(folder: Path) -> None:
    """Before torch and Triton are loaded: no GPU even where there is one, and caches in the program's folder."""
    os.environ["CUDA_VISIBLE_DEVICES"] = ""
    os.environ["TRITON_CACHE_DIR"] = str(folder / "triton")
    os.environ.pop("TRITON_INTERPRET", None)  # interpreted kernels are never compiled


def _examine(request: Request, folder: Path, started: float) -> Reply:
    from guard.cross_compile.candidate_code import lay_out
    from guard.cross_compile.examination import examine_python
    from guard.cross_compile.lazy_dynamo import put_off_dynamo

    put_off_dynamo()
    sources = folder / "sources"
    lay_out(request.solution, sources)
    share = 0.8 * request.limit_s / len(request.gpus)
    reports, predicted, notes = [], [], []
    for index, gpu in enumerate(request.gpus):
        examined = examine_python(request, gpu, sources, started + share * (index + 1))
        reports.append(examined.report)
        if gpu.name == request.predict_for:
            predicted, notes = examined.predicted, examined.notes
    return Reply(reports=tuple(reports), predicted=tuple(predicted), note="; ".join(dict.fromkeys(notes)))


def _examine_cpp(request: Request, folder: Path, started: float) -> Reply:
    from guard.cross_compile.candidate_code import lay_out
    from guard.cross_compile.cuda_sources import compile_sources
    from guard.cross_compile.reference_work import predict_by_reference

    sources = folder / "sources"
    lay_out(request.solution, sources)
    reports = tuple(
        compile_sources(request.solution, sources, gpu, 0.9 * request.limit_s - (time.monotonic() - started))
        for gpu in request.gpus
    )
    wanted = [gpu for gpu in request.gpus if gpu.name == request.predict_for]
    predicted = [one for gpu in wanted for one in predict_by_reference(request, gpu)]
    note = "its own launches are not seen: inputs and outputs moved once, and the reference's matrix products"
    return Reply(reports=reports, predicted=tuple(predicted), note=note if wanted else "")


if __name__ == "__main__":
    main(sys.argv)
