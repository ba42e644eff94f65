"""A roofline estimate of how long launches take: arithmetic on counts, for ranking where no GPU is at hand.

A kernel takes `floor + max(memory, compute)`, a chain of n kernels (n - 1) gaps more:

    memory  = max(bytes / (bandwidth x share), bytes asked for / L2 bandwidth, (steps - 1) x latency)
    compute = sum over formats of flops / (peak x share x balance) + vector operations / (fp32 peak x share)

`share` is the efficiency of that kind of kernel (tasks/hardware/*.yaml, with its source). `balance` is how
evenly blocks or output tiles fall on the SMs, n / (SMs x ceil(n / SMs)). `steps` is Little's law: the resident
blocks of the whole GPU have so many bytes under way at once, and what is asked for comes in that many portions,
one latency each (the floor holds the first). Times grow by the factor `1 + spilled bytes a thread / 256`: 64
spilled registers halve the speed. The two constants below are assumptions, not measurements; ranking is all that
they serve.
"""

from math import ceil
from typing import Literal

from guard.compile_report import BoundBy, WorkloadPrediction
from tasks.gpu import Arithmetic, Efficiencies, Gpu
from tasks.value import Value

LATENCY_MS = 0.8e-3
"""From a load to its value under load."""
HALF_SPEED_SPILL = 256
"""Spilled bytes a thread that halve the speed."""

Kind = Literal[
    "copy", "rows", "fused", "gather", "gemm", "attention", "cudnn_attention", "written_gemm", "written_rows"
]


class Blocks(Value):
    """How a hand-written kernel fills the machine."""

    blocks: int
    warps: int
    """A block."""
    registers: int
    """A thread."""
    shared_bytes: int
    """A block."""
    spill_bytes: int = 0
    """A thread."""
    in_flight_bytes: int = 0
    """What a block loads and stores in one pass of its loop; 0 where it is not known."""
    asked_bytes: int = 0
    """What all blocks load and store together, the same bytes as often as they are asked for."""


class Launch(Value):
    """One operation: what it moves to and from device memory and what it computes."""

    name: str
    kind: Kind
    bytes: int
    flops: dict[Arithmetic, int] = {}
    """On the matrix units."""
    vector_operations: int = 0
    kernels: int = 1
    """How many kernels the library launches for it."""
    matrix: tuple[int, int, int, int] | None = None
    """batch, m, n, k of a library's matrix product."""
    blocks: Blocks | None = None


def predict_workload(
    uuid: str, launches: tuple[Launch, ...], gpu: Gpu, output_bytes: int = 0
) -> WorkloadPrediction:
    """The sum over `launches`; bound by whichever of memory, compute and launching takes most of it.

    However little was launched, the outputs have to be written: no less than `output_bytes` at full speed.
    """
    spent: dict[BoundBy, float] = {"memory": 0.0, "compute": 0.0, "launch": 0.0}
    for launch in launches:
        memory, compute = memory_ms(launch, gpu), compute_ms(launch, gpu)
        spent["memory" if memory >= compute else "compute"] += max(memory, compute)
    kernels = sum(launch.kernels for launch in launches)
    spent["launch"] = (kernels * gpu.kernel_floor_us + max(kernels - 1, 0) * gpu.kernel_gap_us) / 1e3
    return WorkloadPrediction(
        uuid=uuid,
        predicted_ms=max(sum(spent.values()), output_bytes / gpu.bandwidth),
        bound_by=max(spent, key=lambda bound: spent[bound]),
        bytes=sum(launch.bytes for launch in launches),
        flops=sum(sum(launch.flops.values()) for launch in launches),
        launches=kernels,
    )


def memory_ms(launch: Launch, gpu: Gpu) -> float:
    """Milliseconds that its traffic alone takes."""
    share = memory_share(launch.kind, gpu.efficiencies)
    if launch.blocks is None:
        return launch.bytes / (gpu.bandwidth * share)
    from_memory = launch.bytes / (gpu.bandwidth * share)
    from_cache = launch.blocks.asked_bytes / gpu.l2_bandwidth
    waiting = (steps(launch.blocks, gpu) - 1) * LATENCY_MS
    return max(from_memory, from_cache, waiting) * slowdown_by_spills(launch.blocks)


def compute_ms(launch: Launch, gpu: Gpu) -> float:
    """Milliseconds that its arithmetic alone takes."""
    shares = gpu.efficiencies
    balance = _balance_of(launch, gpu)
    matrix = sum(
        operations / (gpu.peak(arithmetic) * _compute_share(launch.kind, arithmetic, shares) * balance)
        for arithmetic, operations in launch.flops.items()
    )
    vector = launch.vector_operations / (gpu.peak("fp32") * shares.vector.fraction * balance)
    spills = slowdown_by_spills(launch.blocks) if launch.blocks else 1.0
    return (matrix + vector) * spills


def memory_share(kind: Kind, shares: Efficiencies) -> float:
    """What this kind of kernel reaches of the bandwidth; other kinds stream as copies do."""
    by_kind = {
        "rows": shares.rows, "fused": shares.fused, "written_rows": shares.written_rows,
        "gather": shares.gather, "gemm": shares.weights,
    }  # fmt: skip
    return by_kind.get(kind, shares.copies).fraction


def resident_blocks(blocks: Blocks, gpu: Gpu) -> int:
    """Blocks that one SM holds at once by threads, registers and shared memory; 0 when not even one fits."""
    threads = 32 * blocks.warps
    registers = max(ceil(blocks.registers / 8) * 8 * threads, 1)
    shared = blocks.shared_bytes + 1024  # every block pays 1 KiB to the system
    return min(
        gpu.blocks_per_sm,
        gpu.threads_per_sm // threads,
        gpu.registers_per_sm // registers,
        gpu.shared_kib_per_sm * 1024 // shared,
    )


def steps(blocks: Blocks, gpu: Gpu) -> int:
    """In how many portions the resident blocks ask for all their bytes; 1 where it is not known."""
    if not blocks.in_flight_bytes:
        return 1
    resident = min(blocks.blocks, gpu.sms * max(resident_blocks(blocks, gpu), 1))
    return max(1, ceil(blocks.asked_bytes / (resident * blocks.in_flight_bytes)))


def balance(parts: float, gpu: Gpu) -> float:
    """How evenly `parts` equal pieces of work fall on the SMs, in (0, 1]."""
    return parts / (gpu.sms * ceil(parts / gpu.sms)) if parts > 0 else 1.0


def slowdown_by_spills(blocks: Blocks) -> float:
    return 1.0 + blocks.spill_bytes / HALF_SPEED_SPILL


def _balance_of(launch: Launch, gpu: Gpu) -> float:
    if launch.blocks is not None:
        return balance(launch.blocks.blocks, gpu)
    if launch.matrix is None:
        return 1.0
    batch, m, n, k = launch.matrix
    tiles = batch * ceil(m / 128) * ceil(n / 128)
    if tiles < gpu.sms:  # libraries cut a long k into pieces when the output has few tiles
        tiles = min(gpu.sms, tiles * max(1, k // 1024))
    return balance(tiles, gpu)


def _compute_share(kind: Kind, arithmetic: Arithmetic, shares: Efficiencies) -> float:
    gemm = shares.gemm.get(arithmetic, shares.gemm["bf16"]).fraction
    if kind in ("attention", "cudnn_attention"):
        return (shares.attention if kind == "attention" else shares.cudnn_attention).fraction
    return gemm * shares.written_gemm.fraction if kind == "written_gemm" else gemm
