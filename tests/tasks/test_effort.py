"""What a reference costs, guessed from shapes and source."""

import math

from tasks.effort import OPERATIONS_PER_CALL, Effort
from tasks.effort_loops import Loops
from tasks.resolved import Resolver
from tests.fakes.definitions import definition


def products(effort: Effort, **axes: int) -> int:
    """The operations of matrix products: all but those that are counted by the element."""
    shapes = [*effort.definition.input_shapes(axes).values(), *effort.definition.output_shapes(axes).values()]
    return effort.operations(axes) - 200 * sum(math.prod(shape) for shape in shapes if shape is not None)


def test_a_linear_layer_costs_rows_by_both_sides_of_its_weight() -> None:
    of = definition({"x": "float32 b s k", "w": "float32 n k"}, {"b": None, "s": None, "k": 64, "n": 32})
    assert products(Effort(of), b=2, s=10) == 2 * 10 * 64 * 32


def test_a_square_weight_counts_both_of_its_axes() -> None:
    of = definition({"x": "float32 t k", "w": "float32 k k"}, {"t": None, "k": 64})
    assert products(Effort(of), t=3) == 3 * 64 * 64


def test_sixteen_bit_products_are_slower() -> None:
    axes = {"t": None, "k": 64, "n": 32}
    wide = definition({"x": "float32 t k", "w": "float32 n k"}, axes)
    narrow = definition({"x": "bfloat16 t k", "w": "bfloat16 n k"}, axes)
    assert products(Effort(narrow), t=3) == 4 * products(Effort(wide), t=3)


def test_a_reference_that_widens_takes_fp32_copies_of_its_inputs() -> None:
    narrow = definition({"x": "bfloat16 t k"}, {"t": None, "k": 64})
    wide = narrow.model_copy(update={"reference": "def run(x):\n    return x.float()\n"})
    assert Effort(narrow).memory_bytes({"t": 3}) == 0
    assert Effort(wide).memory_bytes({"t": 3}) == 3 * 64 * 8


def test_attention_grows_with_the_square_of_the_sequence() -> None:
    of = definition(
        {"hidden": "float32 b seq_len h"}, {"b": None, "seq_len": None, "h": 64, "num_heads": 4},
        reference="import torch\ndef run(hidden):\n    return torch.softmax(hidden @ hidden.mT, -1) @ hidden\n",
    )  # fmt: skip
    effort = Effort(of)
    assert products(effort, b=1, seq_len=2048) == 4 * products(effort, b=1, seq_len=1024)
    assert effort.memory_bytes({"b": 2, "seq_len": 1024}) == 2 * 4 * 1024 * 1024 * 12


def test_fp8_inputs_are_widened_by_the_reference() -> None:
    of = definition({"w": "float8_e4m3fn n k"}, {"n": None, "k": 16})
    assert Effort(of).memory_bytes({"n": 4}) == 4 * 16 * 12


LOOPS = """
def run(q, k):
    batch, heads, dim = q.shape
    rows = k.shape[0]
    for b in range(batch):
        start = int(b)
        if start:
            for h in range(1, heads):
                one(h)
                two(h)
    for r in range(rows // 2):
        one(r)
    for word in ("a", "b"):
        one(word)
"""


def test_loops_cost_their_calls_by_their_bounds() -> None:
    of = definition(
        {"q": "float32 b heads 8", "k": "float32 rows 8"},
        {"b": None, "rows": None, "heads": 3},
        reference=LOOPS,
    )
    loops = Loops(of)
    # int and one, two and range of the inner loop stand in the outer body; the inner one's run per head too
    assert loops.calls(Resolver(of)({"b": 5, "rows": 40})) == 5 * (4 + 3 * 2) + 20 + 2
    with_loops = Effort(of).operations({"b": 5, "rows": 40})
    without = Effort(of.model_copy(update={"reference": "def run(q, k):\n    pass\n"}))
    assert with_loops - without.operations({"b": 5, "rows": 40}) == 72 * OPERATIONS_PER_CALL


def test_a_bound_that_cannot_be_told_is_the_largest_axis_shared_among_the_sequences() -> None:
    code = "def run(x):\n    for i in mystery(x):\n        one(i)\n"
    of = definition({"x": "float32 n"}, {"n": None, "len_indptr": None}, reference=code)
    assert Loops(of).calls(Resolver(of)({"n": 100, "len_indptr": 11})) == 10
