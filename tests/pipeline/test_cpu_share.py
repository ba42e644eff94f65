"""What of a task a CPU judges."""

import pytest

import tasks
from guard.errors import GuardBroken
from pipeline import cpu_share as share
from tests.fakes.task import doubling_task


def test_what_is_small_is_left_as_it_is():
    task = doubling_task()
    assert share.cpu_share(task) is task


def test_a_large_task_is_scaled_down_marked_and_its_originals_named():
    task = tasks.load("l1_rmsnorm")
    shrunk = share.cpu_share(task)
    assert shrunk.marks == ("shrunk",)
    assert 1 <= len(shrunk.workloads) <= share.MOST_WORKLOADS
    asked = {workload.uuid for workload in task.workloads}
    assert {shrunk.originals.get(w.uuid, w.uuid) for w in shrunk.workloads} <= asked
    assert set(shrunk.originals) <= {w.uuid for w in shrunk.workloads}
    assert shrunk.definition == task.definition


def test_many_small_workloads_become_a_few_from_the_cheapest_to_the_dearest():
    task = doubling_task(tuple(range(1, 40)))
    sizes = [workload.axes["n"] for workload in share.cpu_share(task).workloads]
    assert len(sizes) == share.MOST_WORKLOADS
    assert (sizes[0], sizes[-1]) == (1, 39)
    assert share.cpu_share(task).marks == ("shrunk",)


def test_one_workload_is_left_however_dear_it_is(monkeypatch):
    monkeypatch.setattr(share, "COST", 1)
    assert [w.axes["n"] for w in share.cpu_share(doubling_task((8, 4))).workloads] == [4]


def test_what_fits_no_memory_is_the_machines_fault_and_says_the_figures(monkeypatch):
    monkeypatch.setattr(share, "MEMORY_SHARE", 1e-9)
    with pytest.raises(GuardBroken, match=r"needs .* at the smallest size"):
        share.cpu_share(tasks.load("l2_decoder"))


def test_the_share_is_the_same_every_time():
    assert (
        share.cpu_share(tasks.load("l2_decoder")).digest == share.cpu_share(tasks.load("l2_decoder")).digest
    )


def test_masks_are_met_and_real_widths_kept_where_rows_can_be_few() -> None:
    """A norm over real widths: few rows, of which some are no multiple of sixteen."""
    shrunk = share.cpu_share(tasks.load("l1_rmsnorm"))
    asked = {workload.axes["width"] for workload in tasks.load("l1_rmsnorm").workloads}
    rows = [workload.axes["num_rows"] for workload in shrunk.workloads]
    assert {workload.axes["width"] for workload in shrunk.workloads} <= asked
    assert sum(rows) <= 150 and any(count > 1 and count % 16 for count in rows)
