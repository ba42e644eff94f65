"""A judge that answers from recorded runs: agents can be developed on a GPU's verdicts without the GPU."""

from collections.abc import Iterable
from pathlib import Path

from guard.errors import GuardBroken
from guard.protocol import Protocol
from guard.verdict import Verdict
from pipeline.judging import JudgeUnder
from pipeline.run_folder import recorded_verdicts
from tasks.candidate import Candidate


def replay(runs: Iterable[Path]) -> JudgeUnder:
    """The judge. It raises `GuardBroken` for a candidate that was not judged under that protocol in `runs`."""
    known: dict[tuple[str, str], Verdict] = {}
    for run in runs:
        for verdict in recorded_verdicts(run):
            known[verdict.candidate_digest, verdict.protocol_digest] = verdict

    def judge(candidate: Candidate, protocol: Protocol) -> Verdict:
        try:
            return known[candidate.digest, protocol.digest]
        except KeyError:
            raise GuardBroken(
                f"no recorded verdict on {candidate.digest[:12]} under the protocol {protocol.name}"
            ) from None

    return judge
