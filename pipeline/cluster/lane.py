"""The client's side: candidates go out as Dask tasks, verdicts come back, and each is paid for once.

A task is named by the digests of candidate, protocol and task, so that asking twice runs once. A node that is
lost gives its tasks back to the scheduler, which hands them to another one of the same kind; a candidate under
which several nodes were lost is an error of the machines, as it would be here.
"""

import hashlib
import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from guard.errors import GuardBroken
from guard.protocol import Protocol
from guard.verdict import Verdict
from pipeline.cluster.node import PREFIX, Inputs, JudgeHere, Reply, Work, guarded, judge_here
from pipeline.device import choose_device
from tasks.candidate import Candidate
from tasks.errors import TaskError
from tasks.task import Task

if TYPE_CHECKING:
    from distributed import Client, Future

NODES_LOST = 3
"""Under one candidate, before it is given up."""
_MOST_SECONDS_TO_CONNECT = 20


class Kind(NamedTuple):
    """What nodes of one device kind offer."""

    name: str
    nodes: int

    @property
    def device(self) -> Literal["cpu", "cuda"]:
        return "cuda" if self.name.startswith("NVIDIA") else "cpu"


class Lane:
    """Judges on the nodes of one kind of device; `judge` is what a search judges with."""

    def __init__(
        self, client: "Client", task: Task, kind: Kind, inputs: Inputs = "auto", judge: JudgeHere = guarded
    ) -> None:
        self._client, self._task, self.kind = client, task, kind
        self._inputs, self._judge = inputs, judge
        # a task of its own and no scattered value: it is passed on among the nodes, and what the scheduler can
        # make again is not lost with the node that held it
        self._text = client.submit(str, task.model_dump_json(), key=f"task-{task.digest[:32]}")

    def judge(self, candidate: Candidate, protocol: Protocol) -> Verdict:
        """The verdict of some node. Raises `GuardBroken` when the machines failed, `TaskError` for the task."""
        return next(self.judge_all((candidate,), protocol))

    def judge_all(self, candidates: Iterable[Candidate], protocol: Protocol) -> Iterator[Verdict]:
        """The verdicts in the order asked, each yielded once, while the others are still being judged."""
        asked = [(candidate, self._submit(candidate, protocol)) for candidate in candidates]
        try:
            for candidate, future in asked:
                yield self._verdict(candidate, _answer(future))
        finally:
            self._client.cancel([future for _, future in asked if not future.done()])

    def _submit(self, candidate: Candidate, protocol: Protocol) -> "Future[Any]":
        work = Work(candidate.model_dump_json(), protocol.model_dump_json(), self.kind.device, self._inputs)
        about = f"{candidate.digest} {protocol.digest} {self._task.digest} {self._inputs} {self.kind.name}"
        return self._client.submit(
            judge_here, self._text, work, self._judge,
            key=f"judge-{hashlib.sha256(about.encode()).hexdigest()[:32]}",
            resources={PREFIX + self.kind.name: 1},
            pure=True,
        )  # fmt: skip

    def _verdict(self, candidate: Candidate, reply: Reply) -> Verdict:
        """What came back, if it is about what was asked and from the kind of device that was asked."""
        if reply.broken:
            raise GuardBroken(reply.broken)
        if reply.task_fault:
            raise TaskError(reply.task_fault)
        verdict = Verdict.model_validate_json(reply.verdict)
        if (verdict.candidate_digest, verdict.task_digest) != (candidate.digest, self._task.digest):
            raise GuardBroken("a node answered about something else than it was asked")
        if verdict.environment.device != self.kind.name:
            raise GuardBroken(f"a node offers {self.kind.name} and judged on {verdict.environment.device}")
        return verdict


def _answer(future: "Future[Any]") -> Reply:
    from distributed import KilledWorker
    from distributed.client import FutureCancelledError

    try:
        return Reply(*future.result())
    except KilledWorker as error:
        raise GuardBroken(f"{NODES_LOST} nodes were lost under one candidate") from error
    except (FutureCancelledError, OSError) as error:
        raise GuardBroken(f"the scheduler was lost ({type(error).__name__})") from error


@contextmanager
def open_lane(
    where: str,
    task: Task,
    device: Literal["auto", "cpu", "cuda"] = "auto",
    *,
    inputs: Inputs = "auto",
    judge: JudgeHere = guarded,
) -> Iterator[Lane]:
    """A lane to the scheduler at `where`, such as `tcp://host:8786`, or `local[:N]` for nodes on this machine.

    `TaskError` when it is no address or nodes of several kinds fit; `GuardBroken` when nobody answers or no node
    has the device. Whoever reaches a Dask scheduler can run code on its nodes: keep it in a private network, or
    configure Dask's TLS.
    """
    client_class, configure = _library()
    with ExitStack() as stack:
        stack.enter_context(configure.set({"distributed.scheduler.allowed-failures": NODES_LOST - 1}))
        address: Any = where
        if where.partition(":")[0] == "local":
            from pipeline.cluster.local import local_nodes

            address = stack.enter_context(local_nodes(where, device))
        else:
            expect_address(where)
        try:
            client = stack.enter_context(client_class(address, timeout=_MOST_SECONDS_TO_CONNECT))
        except (OSError, ValueError) as error:
            raise GuardBroken(f"no scheduler answers at {where}") from error
        yield Lane(client, task, choose_kind(kinds_of(client), device), inputs, judge)


def expect_address(where: str, field: str = "--cluster", mend: str = ", or local") -> None:
    """`TaskError` for what Dask could not take for a scheduler's address."""
    if not re.fullmatch(r"[a-z]+://\S*[^\s:/]:\d{1,5}/?", where):
        raise TaskError(
            f"{where!r} is no scheduler", field=field, mend=f"give one such as tcp://host:8786{mend}"
        )


def device_at(where: str, device: Literal["auto", "cpu", "cuda"]) -> Literal["cpu", "cuda"]:
    """What the nodes at `where` judge on; the same errors as `open_lane`'s."""
    if where.partition(":")[0] == "local":
        return choose_device(device)
    expect_address(where)
    client_class, _ = _library()
    try:
        with client_class(where, timeout=_MOST_SECONDS_TO_CONNECT) as client:
            return choose_kind(kinds_of(client), device).device
    except OSError as error:
        raise GuardBroken(f"no scheduler answers at {where}") from error


def kinds_of(client: "Client") -> tuple[Kind, ...]:
    """The kinds of device that nodes offer, and on how many."""
    counted: dict[str, int] = {}
    for worker in client.scheduler_info(n_workers=-1)["workers"].values():
        for name in worker["resources"]:
            if name.startswith(PREFIX):
                counted[name.removeprefix(PREFIX)] = counted.get(name.removeprefix(PREFIX), 0) + 1
    return tuple(Kind(name, nodes) for name, nodes in sorted(counted.items()))


def choose_kind(kinds: Sequence[Kind], device: Literal["auto", "cpu", "cuda"]) -> Kind:
    """The one kind that fits; times of two kinds are never put together, so a choice between two is a person's."""
    fitting = [kind for kind in kinds if device in ("auto", kind.device)]
    if device == "auto":
        fitting = [kind for kind in fitting if kind.device == "cuda"] or fitting
    if not fitting:
        raise GuardBroken(f"no node offers {'a device' if device == 'auto' else device}")
    if len(fitting) > 1:
        names = ", ".join(kind.name for kind in fitting)
        raise TaskError(
            f"has nodes of several kinds: {names}", field="--cluster", mend="start one scheduler a kind"
        )
    return fitting[0]


def _library() -> tuple[Any, Any]:
    try:
        from dask import config
        from distributed import Client
    except ImportError:
        raise TaskError(
            "needs Dask.distributed, which is not installed",
            field="--cluster",
            mend="pip install 'kernelarc[cluster]'",
        ) from None
    return Client, config
