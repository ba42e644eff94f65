"""Reading and writing official trace files: one JSON object a line."""

import json
from collections.abc import Iterable
from pathlib import Path

from tasks.document import read_json_lines
from tasks.trace import Trace
from tasks.validation import validated


def read_traces(path: Path) -> tuple[Trace, ...]:
    """The traces in file order; `TaskError` names the first line that is none."""
    return tuple(validated(Trace, document) for document in read_json_lines(path))


def write_traces(traces: Iterable[Trace]) -> str:
    """One line a trace, official field order. `ValueError` for NaN or infinity, which are no JSON."""
    lines = (
        json.dumps(trace.model_dump(mode="json"), ensure_ascii=False, allow_nan=False) for trace in traces
    )
    return "".join(f"{line}\n" for line in lines)
