"""The worker process W: the only one that runs a candidate, and the one that knows nothing worth stealing.

It maps the buffers, gives up its rights, says READY, and from then on answers requests one by one.
Whatever it says is a claim; outputs lie in memory that the other side reads by itself.
"""

import contextlib
import gc
import importlib
import importlib.util
import json
import os
import socket
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from types import ModuleType
from typing import Any

import torch

from guard import channel
from guard import outputs as outputs_module
from guard.buffers import BUFFERS, give_back_spare
from guard.channel import ChannelClosed, Message
from guard.interpreter import is_wanted, quicken
from guard.layout import Scalar, Slot
from guard.outputs import WrongOutputs, as_tensors
from guard.own_frames import told, words
from guard.sandbox import enter, seal
from guard.sandbox.seal import leave_common_ground
from guard.tamper import TamperWatch
from guard.timed_loop import TimedLoop
from guard.timers import TIMERS
from guard.timers.base import CallWatch, Records
from guard.timers.cupti import CuptiWatch
from guard.verdict import TimerName

_ANSWER_BYTES = 2000
_MOST_CHANGES = 20


def serve(line: socket.socket, config: Message) -> None:
    """Never returns: the process ends when the guard hangs up."""
    worker = Worker(config)
    channel.send(line, {"ready": worker.facts()})
    while True:
        try:
            message, _ = channel.receive(line)
        except ChannelClosed:
            os._exit(0)
        channel.send(line, worker.answer(message))


class Worker:
    def __init__(self, config: Message) -> None:
        self.device = torch.device(config["device"])
        features = leave_common_ground(config["device"], config.get("memory_bytes"))
        if self.device.type == "cuda":
            torch.cuda.init()
            torch.empty(1, device=self.device)
        else:
            torch.set_num_threads(config["threads"])
        # kept, so that what comes after lies elsewhere in every process
        self._pad = torch.empty(config.get("pad_bytes", 0), dtype=torch.uint8, device=self.device)
        kind = BUFFERS[self.device.type]
        self.inputs = kind.attach(config["fds"]["inputs"], config["input_size"])
        self.outputs = kind.attach(config["fds"]["outputs"], config["output_size"])
        self._claims = config["fds"]["claims"]
        self.source, self.scratch = Path(config["source"]), Path(config["scratch"])
        os.chdir(self.scratch)
        keepers = (os.getppid(), *config.get("keepers", ()))
        readable = [self.source, *map(Path, config.get("readable", ()))]
        self.isolation = enter(
            config["device"], readable, [self.scratch], self.inputs.name, features, keepers
        )
        own: tuple[ModuleType | type, ...] = (
            channel, outputs_module, Worker, TimedLoop, *TIMERS.values(), CuptiWatch,
        )  # fmt: skip
        self._watch = TamperWatch((*own, *_clocks(config["device"])))
        self._run: Callable[..., Any] | None = None
        self._calls_watch: CallWatch | None = None
        self._dps, self._names, self._dtypes = True, list[str](), list[torch.dtype]()

    def facts(self) -> Message:
        return {"isolation": self.isolation.level}

    def answer(self, message: Message) -> Message:
        """One reply a request; what a candidate raises is its own words, cut short."""
        number = message.get("i")
        try:
            return {"i": number, **(self._do(message) or {})}
        except WrongOutputs as error:
            return {"i": number, "error": error.part, "message": str(error)[:_ANSWER_BYTES]}
        except MemoryError as error:
            return {"i": number, "error": "memory", "message": words(error)[:_ANSWER_BYTES]}
        except BaseException as error:  # noqa: BLE001 - candidate code: SystemExit and KeyboardInterrupt included
            said = told(error, self.source)
            with contextlib.suppress(Exception):  # the stream may be closed, or no stream at all
                print(said, file=sys.stderr, flush=True)  # noqa: T201 - the log, which is handed back with the verdict
            kind = "memory" if isinstance(error, torch.OutOfMemoryError) else "raised"
            return {"i": number, "error": kind, "message": said[:_ANSWER_BYTES]}

    def _do(self, message: Message) -> Message | None:
        match message["op"]:
            case "null":
                self.outputs.raw(0, message["bytes"]).copy_(self.inputs.raw(0, message["bytes"]))
                self._settle()
            case "load":
                self._load(message)
            case "call":
                self._call(message)
            case "seal":
                seal()
            case "watch" | "watched":
                return self._watched(message.get("timer"))
            case "time":
                return self._time(message)
            case "tamper":
                return {"changes": self._watch.changes()[:_MOST_CHANGES]}
        return None

    def _load(self, message: Message) -> None:
        """Import the candidate under a private name; its folder comes last on the path, ours not at all."""
        self._dps, self._names = message["dps"], message["names"]
        self._dtypes = [getattr(torch, name) for name in message["dtypes"]]
        if is_wanted(self.source):
            quicken()
        _forget_the_guard()
        sys.path.append(str(self.source))
        path = self.source / message["file"]
        name = message["module"]
        spec = importlib.util.spec_from_file_location(name, path)
        if spec is None or spec.loader is None:
            raise ImportError(f"{message['file']} cannot be imported")
        module = importlib.util.module_from_spec(spec)
        sys.modules[name] = module
        spec.loader.exec_module(module)
        if self.device.type == "cpu":
            gc.freeze()  # an interpreted kernel makes garbage without end: an eighth of it went into looking at Triton
        run = getattr(module, message["function"], None)
        if not callable(run):
            raise AttributeError(f"{message['file']} has no function {message['function']!r}")
        self._run = run

    def _call(self, message: Message) -> None:
        arguments, outputs = (
            self._arguments(message),
            [self.outputs.tensor(Slot(**s)) for s in message["outputs"]],
        )
        once = partial(self.run_once, arguments, outputs)
        if self._calls_watch is None:
            once()
        else:
            copies = 0 if self._dps else sum(output.numel() > 0 for output in outputs)
            self._calls_watch.around(once, copies)
        self._settle()
        give_back_spare(self.device)

    def run_once(self, arguments: list[Any], outputs: list[torch.Tensor]) -> None:
        """The candidate's function once, in its own calling style; what it returns is copied to `outputs`."""
        if self._run is None:
            raise RuntimeError("nothing is loaded")
        if self._dps:
            self._run(*arguments, *outputs)
            return
        self.copy_out(self._run(*arguments), outputs)

    def _watched(self, timer: TimerName | None) -> Message | None:
        """With a timer: watch the calls that follow. Without: what was seen of them."""
        if timer is not None:
            self._calls_watch = TIMERS[timer].watch()
            return None
        watch, self._calls_watch = self._calls_watch, None
        return self._claim(watch.close() if watch is not None else {})

    def copy_out(self, result: Any, outputs: list[torch.Tensor]) -> None:
        found = as_tensors(result, self._names, self._dtypes, self.device)
        for tensor, output, name in zip(found, outputs, self._names, strict=True):
            if tensor.shape != output.shape:
                raise WrongOutputs(
                    "shape", f"output {name!r} has shape {tuple(tensor.shape)}, not {tuple(output.shape)}"
                )
            if tensor.dtype != output.dtype:
                raise WrongOutputs("dtype", f"output {name!r} is {tensor.dtype}, not {output.dtype}")
        with torch._C.DisableTorchFunction(), torch.no_grad():
            for tensor, output in zip(found, outputs, strict=True):
                output.copy_(tensor)

    def _time(self, message: Message) -> Message:
        arguments = self._arguments(message)
        slots = [[self.outputs.tensor(Slot(**s)) for s in outputs] for outputs in message["slots"]]
        loop = TimedLoop(self._run, self._dps, arguments, slots, self.copy_out, message["shifted"])
        return self._claim(loop.record(message["timer"], message["warmup"], message["timed"]))

    def _claim(self, records: Records) -> Message:
        """Laid where the guard reads them: records are too long for the line."""
        body = json.dumps(records).encode()
        os.ftruncate(self._claims, 0)
        os.pwrite(self._claims, body, 0)
        return {"claim_bytes": len(body)}

    def _arguments(self, message: Message) -> list[Any]:
        return [
            self.inputs.tensor(Slot(**argument)) if "offset" in argument else Scalar(**argument).plain()
            for argument in message["arguments"]
        ]

    def _settle(self) -> None:
        if self.device.type == "cuda":
            torch.cuda.synchronize()


def _clocks(device: str) -> list[ModuleType]:
    """What the timers will ask on a GPU, loaded before a candidate could tell by it that it is being timed."""
    with contextlib.suppress(ImportError):
        return [importlib.import_module("cupti.cupti")] if device == "cuda" else []
    return []


def _forget_the_guard() -> None:
    """A candidate that imports `tasks` means its own file, and finds nothing of ours."""
    root = str(Path(__file__).resolve().parent.parent)
    sys.path[:] = [entry for entry in sys.path if entry and os.path.realpath(entry) != root]
    ours = ("guard", "tasks", "submissions", "agents", "leaderboard", "pipeline", "scripts", "tests")
    for name in [name for name in sys.modules if name.split(".")[0] in ours]:
        del sys.modules[name]
