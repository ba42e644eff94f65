"""Judges every known task's own reference: which problems run on this machine, how long each takes, why not.

`python -m scripts.evaluate_references [--device cpu] [--protocol search] [--precision strict] [--out FILE] [NAME ...]`;
names are those of `kernelarc tasks`. One line a task; what was judged already in the file given by --out is left out.
"""

import argparse
import json
import time
from pathlib import Path
from typing import Any

from pipeline.evaluate import evaluate
from pipeline.failure import sentence_and_code
from pipeline.progress import Silent
from pipeline.settings import read_settings
from tasks.catalogue import list_tasks


def judged(name: str, **chosen: str) -> dict[str, Any]:
    """Name, status, seconds, and one sentence where there is no verdict; no text of the problem."""
    began = time.monotonic()
    try:
        settings = read_settings(chosen)
        evaluation = evaluate(settings, name, None, Silent())
    except KeyboardInterrupt:
        raise
    except Exception as error:  # noqa: BLE001 - one task's failure is a line, not the end of the table
        sentence, code = sentence_and_code(error)
        found = {"status": "none", "code": code, "said": sentence}
    else:
        verdict = evaluation.verdict
        found = {
            "status": verdict.status,
            "said": "" if verdict.reason is None else f"{verdict.reason.code}: {verdict.reason.message}",
            "workloads": len(verdict.workloads),
            "marks": list(verdict.marks),
            "device": verdict.environment.device,
        }
    return {"task": name, **found, "seconds": round(time.monotonic() - began, 1)}


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("names", nargs="*")
    parser.add_argument("--device", default="auto")
    parser.add_argument("--protocol", default="search")
    parser.add_argument("--precision", default="tolerance")
    parser.add_argument("--out", type=Path)
    given = parser.parse_args()
    lines = given.out.read_text().splitlines() if given.out and given.out.exists() else []
    done = {json.loads(line)["task"] for line in lines}
    for name in given.names or [entry.name for entry in list_tasks()]:
        if name in done:
            continue
        found = judged(name, device=given.device, protocol=given.protocol, precision=given.precision)
        line = json.dumps(found, ensure_ascii=False)
        print(line, flush=True)
        if given.out:
            with given.out.open("a") as file:
                file.write(line + "\n")


if __name__ == "__main__":
    main()
