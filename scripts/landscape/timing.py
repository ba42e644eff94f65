"""`python -m scripts.landscape.timing`: times settings on the device, one JSON line in, one out; dies with a bad one."""

import importlib.util
import json
import os
import statistics
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from guard.compare import compare_round
from tasks.inputs import InputGenerator, load_reference, seeded
from tasks.task import Task

_SEED = 0
_ENOUGH_MS = 60.0
_FEWEST, _MOST = 5, 20


class Bench:
    """Inputs and expected outputs of every workload, made once."""

    def __init__(self, task: Task, device: str, timer: str) -> None:
        import torch

        from guard.timers import TIMERS

        self.torch, self.task, self.device = torch, task, torch.device(device)
        self.timer: Any = next(t for name, t in TIMERS.items() if name == timer)
        self.reference = load_reference(task.definition)
        self.ready: dict[int, tuple[list[Any], list[Any]]] = {}
        on_gpu = device == "cuda"
        size = 2 * torch.cuda.get_device_properties(0).L2_cache_size if on_gpu else 1
        self.cache = torch.empty(size, dtype=torch.int8, device=device)

    def time(self, entry: Any, dps: bool, workload: int) -> dict[str, Any]:
        inputs, expected = self._prepared(workload)
        outputs = [self.torch.full_like(e, float("nan")) if e.is_floating_point() else self.torch.full_like(e, -1)
                   for e in expected]  # fmt: skip
        arguments = [*inputs, *outputs] if dps else inputs
        returned = entry(*arguments)
        self._wait()
        status, figures = compare_round(
            outputs if dps else _as_list(returned), expected, self.task.workloads[workload].tolerance
        )
        if status is not None:
            return {
                "failure": "wrong",
                "detail": f"{status.value}, {figures.matched_ratio:.4f} of the elements match",
            }
        times = self._times(lambda _: entry(*arguments))
        return {"ms": statistics.median(times), "fastest_ms": min(times), "calls": len(times)}

    def _times(self, call: Any) -> list[float]:
        began = time.perf_counter()
        call(0)
        self._wait()
        about_ms = max(1e3 * (time.perf_counter() - began), 1e-3)
        count = max(_FEWEST, min(_MOST, int(_ENOUGH_MS / about_ms)))
        times: list[float] = self.timer.times_ms(self.timer.record(self._prepare, call, 2, count))
        return times

    def _prepare(self, _: int) -> None:
        self.cache.zero_()
        if self.device.type == "cuda":
            self.torch.cuda._sleep(200_000)  # about 0.1 ms, in which the host gets ahead of the device

    def _wait(self) -> None:
        if self.device.type == "cuda":
            self.torch.cuda.synchronize()

    def _prepared(self, workload: int) -> tuple[list[Any], list[Any]]:
        if workload not in self.ready:
            task = self.task
            generator = InputGenerator(
                task.definition,
                task.workloads[workload],
                self.device,
                task.blob_roots,
                reference=self.reference,
            )
            inputs = list(generator.make(seed=_SEED))
            with seeded(_SEED, self.device), self.torch.no_grad():
                expected = _as_list(self.reference.run(*inputs))
            self.ready[workload] = inputs, [e.clone() for e in expected]
        return self.ready[workload]


def _as_list(result: Any) -> list[Any]:
    if isinstance(result, dict):
        return list(result.values())
    return list(result) if isinstance(result, tuple | list) else [result]


def _entry(asked: dict[str, Any], folder: str, number: int) -> Any:
    """The function of a Python source, or of an extension that was built before."""
    path = Path(asked.get("extension") or Path(folder) / f"setting_{number}.py")
    if "extension" not in asked:
        path.write_text(asked["source"])
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return getattr(module, asked["function"])


def main() -> None:
    told = json.loads(sys.stdin.readline())
    answers, log = os.fdopen(os.dup(1), "w"), sys.stderr.fileno()
    os.dup2(log, 1)  # what settings print is no answer
    bench = Bench(Task.model_validate(told["task"]), told["device"], told["timer"])
    print(json.dumps({"ready": True}), file=answers, flush=True)
    with tempfile.TemporaryDirectory() as folder:
        for number, line in enumerate(sys.stdin):
            asked = json.loads(line)
            answer: dict[str, Any]
            try:
                entry = _entry(asked, folder, number)
                answer = bench.time(entry, asked["dps"], asked["workload"])
            except Exception as error:  # noqa: BLE001 - a setting may fail in any way
                answer = {"failure": "raised", "detail": f"{type(error).__name__}: {str(error)[:300]}"}
            print(json.dumps(answer), file=answers, flush=True)
            if "CUDA error" in answer.get("detail", "") or "Triton Error" in answer.get("detail", ""):
                return  # the device is of no use to this process any more


if __name__ == "__main__":
    main()
