"""Run as a program: calls candidates under Triton's interpreter, which has to be on before triton is imported.

It forks for every line it reads, `[jobs file, outputs file]` in JSON, and answers with how the fork ended. A jobs file
holds a list of (module path, calls), each call the inputs and the outputs to be filled (none: what is returned counts).
"""

import atexit
import functools
import gc
import importlib.util
import json
import os
import subprocess
import sys
import traceback
from pathlib import Path
from typing import Any

Call = tuple[list[Any], list[Any]]


def run_interpreted(jobs: list[tuple[Path, list[Call]]], folder: Path) -> list[list[list[Any]]]:
    """Of every job and call, the outputs after it; `CalledProcessError` shows what the candidate raised."""
    import torch

    torch.save([(str(path), calls) for path, calls in jobs], folder / "jobs.pt")
    files = [str(folder / "jobs.pt"), str(folder / "outputs.pt")]
    server = _server()
    assert server.stdin is not None and server.stdout is not None
    server.stdin.write(json.dumps(files) + "\n")
    server.stdin.flush()
    code = int(server.stdout.readline() or 1)
    if code != 0:
        raise subprocess.CalledProcessError(code, files)
    outputs: list[list[list[Any]]] = torch.load(folder / "outputs.pt")
    return outputs


@functools.cache
def _server() -> "subprocess.Popen[str]":
    """One for all tests of a process: it imports torch and Triton once."""
    environment = {**os.environ, "TRITON_INTERPRET": "1", "OMP_NUM_THREADS": "1"}
    server = subprocess.Popen(
        [sys.executable, __file__], env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    atexit.register(server.communicate)  # closes its input, which ends it
    return server


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


def serve() -> None:
    import torch
    import triton
    import triton.language  # noqa: F401 - what every fork needs

    torch.set_num_threads(1)
    gc.freeze()
    for line in sys.stdin:
        child = os.fork()
        if child == 0:
            os.dup2(2, 1)
            gc.disable()  # a fifth of an interpreted call
            code = 1
            try:
                main(*json.loads(line))
                code = 0
            except BaseException:  # noqa: BLE001 - whatever a candidate raises is shown, and the code says so
                traceback.print_exc()
            finally:
                sys.stderr.flush()
                os._exit(code)
        print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), flush=True)  # noqa: T201


if __name__ == "__main__":
    serve()
