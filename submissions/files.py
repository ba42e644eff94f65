"""The six files of a submission's folder, as bytes that follow from the submission alone."""

import hashlib
import json
from collections.abc import Mapping

from submissions.evidence import Evidence
from submissions.formats import FORMATS
from submissions.report import report
from submissions.samples import pack
from submissions.submission import Submission
from tasks.solution_file import SOLUTION
from tasks.trace_file import write_traces

TRACES, SAMPLES = "traces.jsonl", "samples.jsonl.gz"
EVIDENCE, REPORT, SUMS = "evidence.json", "REPORT.md", "SHA256SUMS"
NAMES = (SOLUTION, TRACES, SAMPLES, EVIDENCE, REPORT, SUMS)


def files(submission: Submission) -> dict[str, bytes]:
    """By file name; the same bytes for the same submission, on every run."""
    content = {
        SOLUTION: FORMATS["solution-json"].write(submission),
        TRACES: write_traces(submission.traces).encode(),
        SAMPLES: pack(submission.samples),
        EVIDENCE: evidence_bytes(submission.evidence),
        REPORT: report(submission).encode(),
    }
    return {**content, SUMS: sums(content)}


def evidence_bytes(evidence: Evidence) -> bytes:
    """Sorted keys, so that a verdict read back from a journal gives the same bytes."""
    text = json.dumps(evidence.content, sort_keys=True, indent=2, ensure_ascii=False, allow_nan=False)
    return f"{text}\n".encode()


def sums(content: Mapping[str, bytes]) -> bytes:
    """What `sha256sum -c SHA256SUMS` reads; the list does not name itself."""
    lines = [
        f"{hashlib.sha256(content[name]).hexdigest()}  {name}\n" for name in sorted(content) if name != SUMS
    ]
    return "".join(lines).encode()
