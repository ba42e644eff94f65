"""Compile options: what the public evaluator adds, drops or forgets without a word."""

import re
from collections.abc import Iterator
from typing import Any

from tasks.document import Document
from tasks.solution import BuildSpec, Hardware, Solution
from tasks.task import LintFinding

_FIELD = "spec.compile_options"
_DRIVER_CALL = re.compile(r"\bcu[A-Z]\w+\s*\(")
_ARCHITECTURE_ONLY = re.compile(r"wgmma|tcgen05|setmaxnreg")
"""PTX that needs an `a` target such as sm_90a or sm_100a."""


def build_findings(solution: Solution, document: Document) -> Iterator[LintFinding]:
    spec = solution.spec
    raw = document.content["spec"].get("compile_options")
    if not spec.is_cpp:
        if raw is not None:
            yield document.finding(
                "note", "idle-options", _FIELD, "is used by C++ languages only", "remove it"
            )
        return
    text = "\n".join(source.content for source in solution.sources)
    yield from _defaults(raw, document, uses_driver=bool(_DRIVER_CALL.search(text)))
    yield from _architecture(spec, document, needs_a=bool(_ARCHITECTURE_ONLY.search(text)))


def _defaults(raw: Any, document: Document, *, uses_driver: bool) -> Iterator[LintFinding]:
    if raw is None:
        yield document.finding(
            "warning",
            "no-options",
            _FIELD,
            "is left out, so nvcc gets neither -O3 nor --use_fast_math",
            "write the flags that are meant, such as {'cuda_cflags': ['-O3']}",
        )
        return
    if "cuda_cflags" not in raw:
        yield document.finding(
            "warning",
            "fast-math",
            f"{_FIELD}.cuda_cflags",
            "is left out, so -O3 --use_fast_math are switched on",
            "write the flags that are meant",
        )
    if "ld_flags" in raw and "-lcuda" not in raw["ld_flags"]:
        yield document.finding(
            "warning" if uses_driver else "note",
            "no-lcuda",
            f"{_FIELD}.ld_flags",
            "replaces the default and so drops -lcuda",
            "add -lcuda, without which calls such as cuTensorMapEncodeTiled do not link",
        )


def _architecture(spec: BuildSpec, document: Document, *, needs_a: bool) -> Iterator[LintFinding]:
    flags = spec.compile_options.cuda_cflags if spec.compile_options else ()
    chosen = [flag for flag in flags if "-gencode" in flag or "-arch" in flag]
    if chosen:
        covers = Hardware.B200 not in spec.target_hardware or any("100" in flag for flag in flags)
        yield document.finding(
            "note" if covers else "warning",
            "own-architecture",
            f"{_FIELD}.cuda_cflags",
            f"{chosen[0]!r} switches the evaluator's own -gencode off"
            + ("" if covers else ", and no flag names sm_100"),
            "add -gencode=arch=compute_100a,code=sm_100a for B200",
        )
    elif Hardware.LOCAL in spec.target_hardware:
        yield document.finding(
            "warning" if needs_a else "note",
            "plain-architecture",
            "spec.target_hardware",
            "LOCAL builds for plain sm_90 or sm_100, where wgmma and tcgen05 do not assemble",
            "give -gencode with sm_90a or sm_100a in cuda_cflags",
        )
