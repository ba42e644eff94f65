"""Shrinking, over tasks that nobody thought of."""

from hypothesis import given, settings
from hypothesis import strategies as st

from tasks.axis_relations import complete, relations
from tasks.effort import Effort
from tasks.shrink import CannotShrink, planned_bytes, shrink
from tasks.shrink_budget import ShrinkBudget
from tasks.shrink_steps import shrunk_size
from tests.fakes.definitions import definition, task

NAMES = ("batch_size", "seq_len", "num_pages", "num_kv_indices", "len_indptr", "num_heads", "n")
sizes = st.one_of(st.integers(0, 8), st.integers(1, 1 << 20), st.sampled_from([128, 4096, 4104, 1 << 31]))


@st.composite
def asked(draw: st.DrawFn) -> object:
    names = draw(st.lists(st.sampled_from(NAMES), min_size=1, max_size=4, unique=True))
    dims = st.lists(st.sampled_from([*names, "d"]), min_size=1, max_size=3)
    of = definition(
        {
            f"i{number}": {"dtype": "bfloat16", "shape": draw(dims)}
            for number in range(draw(st.integers(1, 3)))
        },
        {**dict.fromkeys(names), "d": draw(st.sampled_from([1, 64, 4096]))},
        outputs={"out": {"dtype": "float32", "shape": draw(dims)}},
    )
    rows = draw(st.lists(st.fixed_dictionaries(dict.fromkeys(names, sizes)), min_size=1, max_size=4))
    return task(of, rows)


@settings(max_examples=60, deadline=None)
@given(asked=asked(), memory=st.integers(10, 34), operations=st.integers(0, 40))
def test_what_is_shrunk_fits_and_has_lost_no_structure(asked, memory, operations) -> None:  # type: ignore[no-untyped-def]
    budget = ShrinkBudget(memory_bytes=1 << memory, operations=1 << operations)
    effort = Effort(asked.definition)
    try:
        shrunk = shrink(asked, budget)
    except CannotShrink as refused:
        assert "needs" in str(refused)
        return
    rows = [w.axes for w in asked.workloads]
    found = relations(rows, asked.definition.var_axes)
    before = {w.uuid: w for w in asked.workloads}
    assert shrunk.workloads
    assert len({w.uuid for w in shrunk.workloads}) == len(shrunk.workloads)
    for w in shrunk.workloads:
        original = before[shrunk.originals.get(w.uuid, w.uuid)].axes
        assert planned_bytes(effort, w.axes) <= budget.memory_bytes
        assert all((w.axes[a] == original[a] == 0) or 1 <= w.axes[a] <= original[a] for a in original)
        assert complete(w.axes, found) == w.axes
    assert (shrunk is asked) == (not shrunk.marks)
    again = shrink(asked, budget)
    assert again == shrunk


@settings(max_examples=200, deadline=None)
@given(size=st.integers(0, 1 << 40), halvings=st.integers(0, 70), alignment=st.sampled_from([128, 16, 1]))
def test_halving_never_grows_never_empties_and_keeps_the_alignment(
    size: int, halvings: int, alignment: int
) -> None:
    less = shrunk_size("seq_len", size, halvings, alignment)
    assert less == 0 if size == 0 else 1 <= less <= size
    assert shrunk_size("seq_len", size, halvings + 1, alignment) <= less
    for step in (128, 16):
        if size % step == 0 and alignment >= step:
            assert less % step == 0
    if size % 2:
        assert less % 2


@settings(max_examples=100, deadline=None)
@given(rows=st.lists(st.tuples(st.integers(1, 99), st.integers(1, 99)), min_size=3, max_size=6, unique=True))
def test_relations_are_found_and_complete_what_is_free(rows: list[tuple[int, int]]) -> None:
    table = [{"batch": b, "len_indptr": b + 1, "seq": s, "num_tokens": b * s} for b, s in rows]
    found = relations(table, ["batch", "len_indptr", "seq", "num_tokens"])
    dependent = {relation.axis for relation in found}
    assert len(dependent) >= 2
    for row in table:
        free = {axis: size for axis, size in row.items() if axis not in dependent}
        assert complete(free, found) == row
