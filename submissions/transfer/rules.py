"""The rule of what may ship for a GPU that it was not tuned on: one function a thing that is carried over."""

import re
from collections.abc import Callable, Iterator, Mapping

from submissions.transfer import architectures
from submissions.transfer.finding import Ruling, TransferFinding
from submissions.transfer.limits import limits
from submissions.transfer.moved import Moved
from tasks.gpu import known_gpus, load_gpu

Found = Iterator[tuple[Ruling, str]]

_TABLE = re.compile(
    r"\bcublasLtMatmulAlgoInit\b|\bcublasLtMatmulAlgoConfigSetAttribute\b|\bCUBLASLT_ALGO_CONFIG_ID\b"
    r"|\b(?:build|execute)_plan_at_index\b"
)
_HOPPER = {
    "wgmma": r"\bwgmma\.(?:mma_async|fence|commit_group|wait_group)",
    "Gluon's warpgroup_mma": r"\bwarpgroup_mma\b",
    "CUTLASS's kernels for SM90": r"\bSM90_\d+x\d+x\d+_\w+|\bcutlass::arch::Sm90\b",
    "CuTe's warpgroup products": r"\bnvgpu\.warpgroup\b|\bwarpgroup\.MmaF\w+Op\b",
    "FlashAttention 3": r"\bflash_attn_interface\b|\bbackend=['\"]fa3['\"]",
}
_KNOB = re.compile(r"\b(num_warps|num_stages)['\"]?\s*[=:]\s*(\d+)")


def transfer(moved: Moved) -> tuple[TransferFinding, ...]:
    """Every finding, worst first; one that says ok where nothing stands in the way."""
    if moved.is_at_home:
        return (
            _ok(f"it was judged on {moved.judged_on.device}, which is the target: nothing is carried over"),
        )
    found = [
        TransferFinding(rule=name, ruling=ruling, sentence=sentence)
        for name, rule in RULES.items()
        for ruling, sentence in rule(moved)
    ]
    if not found:
        return (_ok("nothing in it was chosen for one GPU: its libraries choose on the device they run on"),)
    return tuple(sorted(found, key=lambda each: each.ruling != "refuse"))


def _ok(sentence: str) -> TransferFinding:
    return TransferFinding(rule="all", ruling="ok", sentence=sentence)


def _table(moved: Moved) -> Found:
    """Numbers of algorithms mean other kernels, or none, on another GPU."""
    if not _TABLE.search(moved.code):
        return
    made = f"it holds a table of a library's algorithms, made on {moved.origin}"
    if moved.gpu is None:
        yield "caution", f"{made}: make it on the GPU that will run it"
    elif moved.has_other_path:
        yield (
            "caution",
            f"{made}; it asks for the device, so {moved.target} takes its library path, not timed there",
        )
    else:
        yield (
            "refuse",
            (
                f"{made}, whose numbers mean other kernels or none on {moved.target}: package a candidate that lets the "
                "library choose"
            ),
        )


def _instructions(moved: Moved) -> Found:
    """What only Hopper has."""
    names = [name for name, pattern in _HOPPER.items() if re.search(pattern, moved.code)]
    if not names or moved.gpu is None:
        return
    uses = f"it uses {', '.join(names)}, which {moved.target} does not have"
    if moved.has_other_path and "__CUDA_ARCH_FEAT_SM90_ALL" in moved.code:
        yield (
            "caution",
            f"{uses}; they are left out there, and its path for other devices runs, not timed there",
        )
    else:
        yield "refuse", f"{uses}: package a candidate without them"


def _architecture(moved: Moved) -> Found:
    """Machine code that the target cannot load."""
    if moved.gpu is None:
        return
    named = architectures.named(moved.code)
    for codes, where in (
        (architectures.of_flags(moved.flags), "its flags"),
        # a plain name may be a word in passing; one with a letter is machine code for that GPU alone
        (named if any(code.letter for code in named) else (), "its sources"),
    ):
        if codes and not any(code.runs_on(moved.gpu.capability) for code in codes):
            listed = ", ".join(map(str, codes))
            yield "refuse", f"{where} build for {listed} alone, which {moved.target} cannot load"


def _tuning(moved: Moved) -> Found:
    """They are right on any GPU, and best on the one that they were chosen on."""
    if not moved.has_own_kernels:
        return
    knobs = ", ".join(dict.fromkeys(f"{name} {value}" for name, value in _KNOB.findall(moved.code)))
    yield (
        "caution",
        (
            f"its tile sizes, warps, stages and the sizes at which it changes paths{f' ({knobs})' if knobs else ''} were "
            f"chosen on {moved.origin}: they are untuned on {moved.target}"
        ),
    )


def _multiprocessors(moved: Moved) -> Found:
    """A grid that was cut for another number of multiprocessors."""
    if moved.gpu is None or not moved.has_own_kernels:
        return
    others = {load_gpu(name).sms for name in known_gpus()} - {moved.gpu.sms}
    for number in sorted(others):
        if re.search(rf"\b{number}\b", moved.code):
            yield (
                "caution",
                f"it names {number}, as many multiprocessors as another GPU has; {moved.target} has {moved.gpu.sms}",
            )


RULES: Mapping[str, Callable[[Moved], Found]] = {
    "algorithm-table": _table,
    "instructions": _instructions,
    "architecture": _architecture,
    "limits": limits,
    "tuning": _tuning,
    "multiprocessors": _multiprocessors,
}
