"""The solution as it is uploaded: the judged one, with its target, its flags and its terms written out."""

from guard.verdict import PrecisionPolicy, Verdict
from submissions.facts import CandidateRecord, Target
from submissions.readiness import performance_line
from tasks.solution import BuildSpec, CompileOptions, Hardware, Solution, SourceFile

PRECISION = {
    "strict": "no arithmetic below the declared dtypes' own, TF32 off",
    "reference": "no less precise than the reference's own arithmetic",
    "tolerance": "whatever passes the official tolerance with margin",
}
_AS_IF_LEFT_OUT = CompileOptions(cflags=(), cuda_cflags=(), ld_flags=("-lcuda",))
"""What the evaluator does for a C++ solution without compile_options: no -O3, no fast math."""
_TERMS = ("strategy: ", "precision policy: ", "performance: ")


def upload(
    judged: CandidateRecord,
    sources: tuple[SourceFile, ...],
    *,
    definition: str,
    target: Target,
    verdict: Verdict,
) -> Solution:
    """The official solution, sources inline; everything else follows from the record and the verdict."""
    return Solution(
        name=judged.name,
        definition=definition,
        author=judged.author,
        spec=upload_spec(judged.spec, target),
        sources=sources,
        description=describe(judged, verdict.precision, performance_line(target, verdict)),
    )


def upload_spec(judged: BuildSpec, target: Target) -> BuildSpec:
    """The build spec for `target` that behaves as the judged one did, with nothing left to a default.

    An evaluator fills the gaps of partial compile_options with `--use_fast_math`; so all three lists are
    written for C++, and none for Python, where they mean nothing.
    """
    options = (judged.compile_options or _AS_IF_LEFT_OUT) if judged.is_cpp else None
    return judged.model_copy(update={"target_hardware": (Hardware(target),), "compile_options": options})


def describe(judged: CandidateRecord, precision: PrecisionPolicy, performance: str) -> str:
    """The author's own words, then strategy, precision policy and where the performance was measured.

    Terms that an earlier packaging wrote into the description are replaced, not repeated.
    """
    own = [line for line in (judged.description or "").splitlines() if not line.startswith(_TERMS)]
    terms = [
        f"strategy: {judged.strategy or 'not stated'} (agent {judged.agent})",
        f"precision policy: {precision} ({PRECISION[precision]})",
        performance,
    ]
    return "\n".join([*own, *terms])
