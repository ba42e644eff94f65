"""A session: one device, and what may be kept on it between candidates."""

import contextlib
import fcntl
import os
import tempfile
from pathlib import Path
from types import TracebackType
from typing import Literal, Self

from guard.errors import GuardBroken
from guard.memory import available_bytes, cache_bytes
from guard.processes import WorkerProcess
from guard.reference_process import ReferenceProcess
from guard.removal import remove_tree
from guard.runner import Zygote
from guard.staging import Stage
from tasks.task import Task

InputPolicy = Literal["recorded", "auto", "synthetic"]
_RING_BYTES = {"cpu": 0, "cuda": 8 << 30}


class Session:
    """Use as a context manager; leaving it ends every process it started and removes its scratch folder.

    It holds the device for itself alone: a second session on the same device raises `GuardBroken`.
    """

    def __init__(
        self,
        device: Literal["cpu", "cuda"],
        scratch: Path | None = None,
        inputs: InputPolicy = "auto",
        threads: int | None = None,
    ) -> None:
        self.device, self.inputs = device, inputs
        # one thread on small machines: two processes and a runner beside them leave no core to wait for
        self.threads = threads or max(1, len(os.sched_getaffinity(0)) // 2)
        self._parent = scratch
        self._zygote: Zygote | None = None
        self._reference: tuple[str, ReferenceProcess] | None = None
        self._workers = 0

    def __enter__(self) -> Self:
        try:
            self.scratch = Path(tempfile.mkdtemp(prefix="kernelarc-", dir=self._parent))
        except OSError as error:
            raise GuardBroken(f"no scratch folder can be made: {error}") from error
        self._lock = _hold_device(self.device)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._drop_reference()
        if self._zygote is not None:
            self._zygote.close()
            self._zygote = None
        remove_tree(self.scratch)
        if self._lock is not None:
            os.close(self._lock)

    def begin(self) -> None:
        """Let the zygote import, while the caller does something else; it is waited for when it is needed."""
        self.zygote  # noqa: B018 - made when it is first asked for

    @property
    def zygote(self) -> Zygote:
        if self._zygote is not None and not self._zygote.is_alive:
            # whoever ended it broke one judgement; the next one starts anew
            self._drop_reference()
            self._zygote.close()
            self._zygote = None
        if self._zygote is None:
            self._zygote = Zygote(self.scratch)
        return self._zygote

    @property
    def holds_reference(self) -> bool:
        """Whether a reference process is alive, and holds memory of the device."""
        return self._reference is not None

    def reference(self, task: Task) -> ReferenceProcess:
        """R for `task`, READY: its reference and generator ran on every workload. The last one is kept."""
        kept = self._reference
        if kept is not None and kept[0] == task.digest and kept[1].is_alive and self.zygote.is_alive:
            return kept[1]
        self._drop_reference()
        file = self.scratch / f"task-{task.digest[:16]}.json"
        file.write_text(task.model_dump_json())
        available = available_bytes(self.device)
        config = {
            "task": str(file), "name": task.name, "device": self.device, "inputs": self.inputs, "threads": self.threads,
            "cache_bytes": cache_bytes(self.device, available), "memory_bytes": available,
            "ring_bytes": _RING_BYTES[self.device], "log": str(self.scratch / "reference.log"),
        }  # fmt: skip
        self._reference = (task.digest, ReferenceProcess(self.zygote, config))
        return self._reference[1]

    def worker(
        self,
        reference: ReferenceProcess,
        stage: Stage,
        memory_bytes: int,
        env: dict[str, str],
        pad_bytes: int = 0,
    ) -> WorkerProcess:
        """A fresh W over the reference's buffers; enter it to wait for READY.

        `pad_bytes` are set aside before anything else, so that placement is drawn anew and not frozen.
        """
        self._workers += 1
        caches = {
            "TRITON_CACHE_DIR": str(stage.scratch / "triton"), "TORCHINDUCTOR_CACHE_DIR": str(stage.scratch / "inductor"),
            "HOME": str(stage.scratch), "TMPDIR": str(stage.scratch), "CUDA_CACHE_PATH": str(stage.scratch / "cuda"),
        }  # fmt: skip
        config = {
            "device": self.device, "threads": self.threads, "memory_bytes": memory_bytes, "env": {**caches, **env},
            "source": str(stage.source), "scratch": str(stage.scratch),
            "readable": [str(path) for path in stage.readable],
            "input_size": reference.facts["input_size"], "output_size": reference.facts["output_size"],
            "log": str(stage.root / f"worker-{self._workers}.log"), "pad_bytes": pad_bytes,
        }  # fmt: skip
        return WorkerProcess(self.zygote, config, reference)

    def _drop_reference(self) -> None:
        if self._reference is not None:
            self._reference[1].close()
            self._reference = None


def _hold_device(device: str) -> int | None:
    """A lock per GPU, kept by the file system and freed by the kernel; CPUs may be shared."""
    if device != "cuda":
        return None
    path = (
        Path(tempfile.gettempdir())
        / f"kernelarc-{os.environ.get('CUDA_VISIBLE_DEVICES', '0') or 'none'}.lock"
    )
    lock = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o666)
    with contextlib.suppress(BlockingIOError):
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        return lock
    os.close(lock)
    raise GuardBroken(f"another session holds the GPU (lock {path}); wait for it or end it")
