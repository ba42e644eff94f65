"""How a candidate is judged. Agents never see one."""

from typing import Literal

from guard.verdict import PrecisionPolicy, TimerName
from tasks.value import Value, digest_of


class Protocol(Value):
    name: Literal["smoke", "search", "final"]
    processes: int
    """Fresh worker processes; the first also runs the official rounds."""
    official_rounds: int = 10
    official_seed: int = 200
    warmup_calls: int = 10
    timed_calls: int = 50
    measured_calls: int = 12
    """Calls on fresh values per workload and process, every one checked."""
    timer: TimerName | None = None
    """None: CUPTI where it works, else CUDA events, else the wall clock."""
    precision: PrecisionPolicy = "tolerance"
    build_limit_s: float = 120.0
    evaluation_limit_s: float = 600.0
    host_memory_gib: float = 8.0

    @property
    def digest(self) -> str:
        return digest_of(self.model_dump(mode="json"))


SMOKE = Protocol(name="smoke", processes=1, measured_calls=4)
SEARCH = Protocol(name="search", processes=2)
FINAL = Protocol(name="final", processes=10)
PROTOCOLS: dict[str, Protocol] = {p.name: p for p in (SMOKE, SEARCH, FINAL)}
