"""The bounds: by hand on small definitions, against the published ones, and against times that were reached."""

import json
from itertools import count
from pathlib import Path

import pytest

import tasks
from scripts.sol_table import agree, has_four_decimals, published_of
from tasks.definition import Definition
from tasks.gpu import load_gpu
from tasks.graph import Graph, Node, Tensor
from tasks.speed_of_light import speed_of_light
from tasks.speed_of_light.counts import Counted, Counts
from tasks.speed_of_light.masks import Masks
from tasks.speed_of_light.physical import compulsory_bytes
from tasks.speed_of_light.precision import cheapest
from tasks.task import Task
from tasks.workload import Tolerance, Workload

RESULTS = Path(__file__).parents[2] / "docs" / "results"
LINEAR = "import torch\nimport torch.nn.functional as F\ndef run(x, w):\n    return F.linear(x, w)\n"
PRODUCT = "import torch\ndef run(x, w):\n    return torch.relu(x @ w.t())\n"
RESIDUAL = "import torch\ndef run(x, w):\n    return (x.to(torch.float32) @ w.to(torch.float32).t()) + x\n"
SELECTED = (
    "import torch\ndef run(x, w):\n    out = torch.zeros(x.shape[0], 256, device=x.device, dtype=x.dtype)\n"
    "    chosen = (x.sum(-1) > 0).nonzero().squeeze(1)\n    out.index_add_(0, chosen, x[chosen] @ w.t())\n    return out\n"
)
SOURCES = {"x": {"type": "random"}, "w": {"type": "random"}}


def problem(reference: str, rows: tuple[int, ...] = (4096,), dtype: str = "bfloat16") -> Task:
    """x [m, 256] and w [256, 256] to [m, 256]."""
    spec = {"dtype": dtype}
    definition = {
        "name": "small",
        "axes": {"m": {"type": "var"}, "k": {"type": "const", "value": 256}},
        "inputs": {"x": {"shape": ["m", "k"], **spec}, "w": {"shape": ["k", "k"], **spec}},
        "outputs": {"y": {"shape": ["m", "k"], **spec}},
        "reference": reference,
    }
    workloads = tuple(
        Workload.model_validate({"axes": {"m": m}, "inputs": SOURCES, "uuid": f"w{m}"}) for m in rows
    )
    return Task(name="small", definition=Definition.model_validate(definition), workloads=workloads)


@pytest.mark.parametrize(
    ("reference", "counted"),
    [
        (LINEAR, 4096 * 256),  # what a linear layer is handed is not counted, its result is
        (PRODUCT, 256 * 256 + 4096 * 256),  # x meets w.t(), which was made on the way
        (RESIDUAL, 256 * 256 + 2 * 4096 * 256),  # both are cast alone; the x that is added is not counted
    ],
)
def test_published_pricing_counts_what_a_call_is_handed_alone(reference: str, counted: int) -> None:
    (bound,) = speed_of_light(problem(reference), load_gpu("B200"), "published")
    assert bound.resources_ms["memory"] == pytest.approx(4e-4 + 2 * counted / 7.6674e9)
    assert bound.resources_ms["bf16"] == pytest.approx(4e-4 + 2 * 4096 * 256 * 256 / 1.811253e12)
    assert bound.t_sol_ms == max(bound.resources_ms.values())


def test_published_pricing_prices_fp32_as_sixteen_bits() -> None:
    wide, narrow = (
        speed_of_light(problem(PRODUCT, dtype=dtype), load_gpu("B200"), "published")[0].resources_ms
        for dtype in ("float32", "bfloat16")
    )
    assert wide == narrow


def test_a_choice_by_values_is_taken_at_its_widest() -> None:
    (bound,) = speed_of_light(problem(SELECTED), load_gpu("B200"), "published")
    assert bound.resources_ms["bf16"] == pytest.approx(4e-4 + 2 * 4096 * 256 * 256 / 1.811253e12)


def test_physical_pricing_counts_every_byte_once_in_its_own_type() -> None:
    (bound,) = speed_of_light(problem(RESIDUAL, dtype="float32"), load_gpu("H200"), "physical")
    moved = 4 * (256 * 256 + 2 * 4096 * 256)
    assert (bound.bound_by, bound.t_sol_ms) == ("memory", pytest.approx(moved / 4.8e9))
    assert bound.resources_ms["bf16"] == pytest.approx(2 * 4096 * 256 * 256 / 989.4e9)


def test_a_reference_that_fails_is_counted_by_its_outputs() -> None:
    broken = problem("def run(x, w):\n    raise ValueError\n")
    for pricing, fixed, rate in (("published", 4e-4, 7.6674e9), ("physical", 0.0, 8e9)):
        (bound,) = speed_of_light(broken, load_gpu("B200"), pricing)  # type: ignore[arg-type]
        assert bound.t_sol_ms == pytest.approx(fixed + 2 * 4096 * 256 / rate)
        assert "could not be followed" in bound.note


@pytest.mark.parametrize(
    ("declared", "atol", "used", "expected"),
    [
        ("fp32", 1e-5, (), "bf16"),
        ("bf16", 0.02, (), "bf16"),
        ("bf16", 0.1, (), "fp8"),
        ("fp32", 1e-5, ("fp8",), "fp8"),
        ("fp32", 1e-5, ("nvfp4",), "nvfp4"),
        ("int8", 9.0, (), "int8"),
    ],
)
def test_the_cheapest_arithmetic_that_may_pass(
    declared: str, atol: float, used: tuple[str, ...], expected: str
) -> None:
    gpu = load_gpu("B200")
    found = cheapest(declared, Tolerance(max_atol=atol), used, gpu)  # type: ignore[arg-type]
    assert gpu.peak(found) == gpu.peak(expected)  # type: ignore[arg-type]


def scores_graph(conditions: int, mask: bool) -> Graph:
    """q [64, 8] by k [64, 8] to scores [64, 64], with that many computed conditions and a mask input."""
    tensor = {name: Tensor(name=name, shape=(64, 8), dtype="float32") for name in ("q", "k")}
    square = Tensor(name="attention_mask", shape=(64, 64), dtype="float32")
    scores = Tensor(name="mm", shape=(64, 64), dtype="float32")
    made = [
        Node(
            name=f"lt_{i}", operation="aten.lt.Tensor", kind="pointwise", inputs=(),
            outputs=(Tensor(name=f"lt_{i}", shape=(64, 64), dtype="bool"),),
        )
        for i in range(conditions)
    ]  # fmt: skip
    product = Node(
        name="mm", operation="aten.mm.default", kind="matmul", inputs=("q", "k"), outputs=(scores,), flops={"fp32": 65536}
    )  # fmt: skip
    inputs = (*tensor.values(), *([square] if mask else []))
    return Graph(
        inputs=inputs, outputs=(scores,), results=("mm",), nodes=(*made, product), groups=(), capture="fake",
        opaque_share=0.0, touched={t.name: t.bytes for t in inputs},
    )  # fmt: skip


@pytest.mark.parametrize(
    ("conditions", "mask", "share"),
    [(0, False, 1.0), (0, True, 65 / 128), (1, False, 65 / 128), (2, False, 0.0)],
)
def test_what_masks_leave_of_a_product(conditions: int, mask: bool, share: float) -> None:
    graph = scores_graph(conditions, mask)
    assert Masks(graph).needed(graph.nodes[-1]) == share
    assert compulsory_bytes(graph) == 4 * (2 * 64 * 8 + 64 * 64)  # without the mask


def test_sizes_on_a_line_are_told_from_three_and_others_are_followed() -> None:
    asked: list[int] = []

    def count(power: int, workload: Workload) -> Counted:
        asked.append(workload.axes["m"])
        return Counted({"bytes": workload.axes["m"] ** power})

    sizes = problem(LINEAR, (2, 100, 7))
    for power, followed in ((1, [2, 4, 6]), (2, [2, 100, 4, 6, 7])):
        counts = Counts(sizes.definition, sizes.workloads, lambda w, power=power: count(power, w))  # type: ignore[misc]
        counts._is_slow = True
        asked.clear()
        found = [counts.of(workload) for workload in sizes.workloads]
        assert [f.amounts["bytes"] for f in found if f] == [2**power, 100**power, 7**power]
        assert sorted(asked) == sorted(followed)


@pytest.mark.slow
def test_published_bounds_are_met_on_92_percent_of_those_with_four_decimals(official_root: Path) -> None:
    gpu, met, asked = load_gpu("B200"), 0, 0
    for folder in sorted(official_root.glob("*/*")):
        if folder.name[:3] in SLOW.get(folder.parent.name, ()):
            continue
        task = tasks.load(str(folder))
        published = published_of(task, folder)
        if not any(map(has_four_decimals, published.values())):
            continue
        for bound in speed_of_light(task, gpu, "published"):
            if has_four_decimals(published[bound.uuid]):
                asked += 1
                met += agree(bound.t_sol_ms, published[bound.uuid])
    assert asked >= 220
    assert met >= 0.92 * asked


SLOW = {"FlashInfer-Bench": ("012", "014", "020"), "L2": ("025",), "Quant": ("020", "031")}
"""A second and more each: the table in docs/results holds them, and the test below reads it."""


def test_the_committed_table_meets_the_bar_over_all_official_root() -> None:
    rows = json.loads((RESULTS / "speed-of-light.json").read_text())["rows"]
    four = [row["agreement"]["four"] for row in rows]
    assert sum(asked for _, asked in four) == 325
    assert sum(met for met, _ in four) >= 0.92 * 325


def reached_times() -> list[tuple[str, int, float | None]]:
    """Task, place of the workload and milliseconds on an H200, of every result that is committed."""
    found: list[tuple[str, int, float | None]] = []
    for name in ("evaluate-all-h200.json", "evaluate-seconds-h200.json"):
        for row in json.loads((RESULTS / name).read_text())["rows"]:
            found += [(row["task"], place, ms) for place, ms in enumerate(row.get("latency_ms", ()))]
    for row in json.loads((RESULTS / "headline-h200.json").read_text())["rows"]:
        latencies = row["published"]["latencies"] if "published" in row else []
        for place, each in zip(row["places"] or count(), latencies, strict=False):
            found += [(row["task"], place, each[key]) for key in ("baseline_ms", "candidate_ms")]
    for row in json.loads((RESULTS / "oracle-h200.json").read_text())["rows"]:
        found.append((row["task"], row["workload"], row["guard"].get("latency_ms")))
    return found


def test_no_physical_bound_exceeds_a_time_that_was_reached() -> None:
    bounds = {
        row["task"]: row["physical"]["t_sol_ms"]
        for row in json.loads((RESULTS / "speed-of-light.json").read_text())["rows"]
    }
    compared = 0
    for task, place, reached in reached_times():
        if reached is not None:
            assert bounds[task][place] <= reached, (task, place)
            compared += 1
    assert compared >= 320


@pytest.mark.slow
def test_no_physical_bound_of_the_b200_exceeds_the_published_baseline(official_root: Path) -> None:
    from datetime import date

    from leaderboard.tables import read_published

    for folder in sorted(official_root.glob("*/*")):
        if folder.name[:3] in SLOW.get(folder.parent.name, ()):
            continue
        task = tasks.load(str(folder))
        (reached,) = read_published(folder / "published.json", task, date.today()).t_b.times_ms.values()
        for bound in speed_of_light(task, load_gpu("B200"), "physical"):
            assert bound.t_sol_ms <= reached[bound.uuid], (task.name, bound.axes)
