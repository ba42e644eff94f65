"""Run as a program: calls candidates under Triton's interpreter, which has to be on before triton is imported.

Reads from the file of its first argument a list of (module path, calls), each call the inputs and the outputs to be
filled (none: what is returned counts); writes to its second the outputs.
"""

import importlib.util
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

Call = tuple[list[Any], list[Any]]


def run_interpreted(jobs: list[tuple[Path, list[Call]]], folder: Path) -> list[list[list[Any]]]:
    """Of every job and call, the outputs after it; `CalledProcessError` shows what the candidate raised."""
    import torch

    torch.save([(str(path), calls) for path, calls in jobs], folder / "jobs.pt")
    command = [sys.executable, __file__, str(folder / "jobs.pt"), str(folder / "outputs.pt")]
    environment = {**os.environ, "TRITON_INTERPRET": "1", "OMP_NUM_THREADS": "1"}
    subprocess.run(command, check=True, env=environment)
    outputs: list[list[list[Any]]] = torch.load(folder / "outputs.pt")
    return outputs


def _called(run: Any, inputs: list[Any], outputs: list[Any]) -> list[Any]:
    """The outputs that were filled or, where none were given, those that are returned."""
    returned = run(*inputs, *outputs)
    if outputs:
        return outputs
    return list(returned) if isinstance(returned, tuple | list) else [returned]


def main(jobs_file: str, outputs_file: str) -> None:
    import torch

    done = []
    for place, (path, calls) in enumerate(torch.load(jobs_file)):
        spec = importlib.util.spec_from_file_location(f"candidate_{place}", path)
        assert spec is not None and spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        done.append([_called(module.run, inputs, outputs) for inputs, outputs in calls])
    torch.save(done, outputs_file)


if __name__ == "__main__":
    main(*sys.argv[1:])
