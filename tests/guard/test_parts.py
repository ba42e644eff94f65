"""The guard's small parts, without processes."""

import os
import random
from typing import NamedTuple

import numpy as np
import pytest
import torch

from guard import channel
from guard.bank import Bank, Drawn
from guard.buffers.memfd import MemfdBuffer
from guard.layout import ALIGNMENT, LARGEST_SHIFT, Slot, contiguous, offsets, room
from guard.outputs import WrongOutputs, as_tensors
from guard.timers.activities import spans_and_busy_ns
from guard.timers.base import BadRecords
from guard.timers.cupti import Cupti
from guard.timers.wall import Wall


def test_offsets_are_aligned_shifted_and_never_overlap() -> None:
    dice = random.Random(0)
    sizes = [1, 255, 256, 257, 10_000, 0]
    for _ in range(200):
        found = offsets(sizes, 0, dice)
        ends = [o + s for o, s in zip(found, sizes, strict=True)]
        assert all(o % ALIGNMENT == 0 for o in found)
        assert all(later >= earlier for earlier, later in zip(ends, found[1:], strict=False))
        assert ends[-1] <= room(sizes)
    assert LARGEST_SHIFT % ALIGNMENT == 0


def test_a_slot_spans_what_its_strides_reach() -> None:
    assert Slot(offset=0, shape=(3, 4), strides=contiguous((3, 4)), dtype="float32").span == 12
    assert Slot(offset=0, shape=(3, 4), strides=(0, 1), dtype="float32").span == 4
    assert Slot(offset=0, shape=(3, 0), strides=(1, 1), dtype="float32").span == 0
    assert Slot(offset=0, shape=(), strides=(), dtype="float32").span == 1


def test_both_ends_of_a_memfd_see_the_same_bytes_and_none_can_shrink_it() -> None:
    mine = MemfdBuffer.make(1 << 16)
    theirs = MemfdBuffer.attach(os.dup(mine.fd), mine.size)
    slot = Slot(offset=512, shape=(4, 5), strides=contiguous((4, 5)), dtype="bfloat16")
    mine.tensor(slot).fill_(2.5)
    assert torch.equal(theirs.tensor(slot), torch.full((4, 5), 2.5, dtype=torch.bfloat16))
    assert theirs.tensor(slot).storage_offset() == 0
    with pytest.raises(OSError, match="not permitted"):
        os.ftruncate(theirs.fd, 16)


def test_the_bank_keeps_the_most_recent_that_fit() -> None:
    bank = Bank(100)
    sets = [Drawn((torch.zeros(10),), (torch.zeros(0),)) for _ in range(4)]
    for key, drawn in enumerate(sets):
        bank.put(key, drawn)
    assert [bank.get(k) is not None for k in range(4)] == [False, False, True, True]
    bank.put("large", Drawn((torch.zeros(1000),), ()))
    assert bank.get("large") is None
    assert bank.held_bytes <= 100


def test_messages_keep_their_borders_and_carry_descriptors() -> None:
    a, b = channel.pair()
    read, write = os.pipe()
    channel.send(a, {"n": 1}, (write,))
    channel.send(a, {"n": 2})
    message, fds = channel.receive(b, 1)
    assert message == {"n": 1}
    os.write(fds[0], b"x")
    assert os.read(read, 1) == b"x"
    assert not channel.is_silent(b)
    assert channel.receive(b, 1)[0] == {"n": 2}
    assert channel.is_silent(b)


@pytest.mark.parametrize("body", [b"no json", b"[1]", b"\xff"])
def test_what_is_no_message_closes_the_channel(body: bytes) -> None:
    a, b = channel.pair()
    a.send(body)
    with pytest.raises(channel.ChannelClosed):
        channel.receive(b, 1)


def test_outputs_are_taken_as_they_are_held_and_tensors_by_exact_type_only() -> None:
    def taken(result: object) -> list[torch.Tensor]:
        return as_tensors(result, ["x"], [torch.float32], torch.device("cpu"))

    class Sly(dict):  # type: ignore[type-arg]
        def get(self, name: object, default: object = None) -> object:
            raise AssertionError("computed when read")

        __getitem__ = get

    class Named(NamedTuple):
        x: torch.Tensor

    tensor = torch.zeros(2)
    assert taken(tensor)[0] is taken([tensor])[0] is taken((tensor,))[0] is taken({"x": tensor, "y": 1})[0]
    assert taken(Sly(x=tensor))[0] is taken(Named(tensor))[0] is tensor
    assert taken(3)[0].dtype == taken(np.float64(3))[0].dtype == taken(np.ones(2))[0].dtype == torch.float32
    for wrong in (Sly(y=tensor), {"y": tensor}, [tensor, tensor], None, "text", torch.nn.Parameter(tensor)):
        with pytest.raises(WrongOutputs):
            taken(wrong)
    tensor.remark = "computed when read"  # type: ignore[attr-defined]
    with pytest.raises(WrongOutputs, match="remark"):
        taken(tensor)


def _records(*calls: list[list[int]]) -> dict[str, object]:
    return {"names": ["a", "b", "flush"], "calls": list(calls), "prepared": [2]}


def test_a_cupti_time_spans_from_the_first_start_to_the_last_end_of_the_calls_own_work() -> None:
    discovery = [[0, 0, 10], [1, 12, 20]]
    timed = [[2, 100, 150], [0, 200, 230], [1, 225, 260]]
    assert spans_and_busy_ns(_records(discovery, timed)) == [(60, 60)]
    assert Cupti.times_ms(_records(discovery, timed)) == [60e-6]


def test_gaps_count_in_the_span_and_not_as_busy() -> None:
    call = [[0, 0, 10], [1, 50, 60]]
    assert spans_and_busy_ns(_records(call, call)) == [(60, 20)]


def test_work_before_the_call_under_a_name_of_its_own_is_left_out() -> None:
    discovery = [[0, 0, 10]]
    copies_first = [[0, 5, 9], [0, 100, 130]]
    assert spans_and_busy_ns(_records(discovery, copies_first)) == [(30, 30)]


@pytest.mark.parametrize(
    ("discovery", "timed"),
    [([], [[0, 1, 2]]), ([[0, 0, 1], [1, 1, 2]], [[0, 5, 6]]), ([[0, 0, 1]], [[0, 7, 7]])],
)
def test_records_that_do_not_add_up_give_no_time(discovery: list[list[int]], timed: list[list[int]]) -> None:
    with pytest.raises(BadRecords):
        spans_and_busy_ns(_records(discovery, timed))


def test_the_wall_clock_times_only_the_call() -> None:
    order: list[str] = []
    records = Wall.record(lambda i: order.append(f"p{i}"), lambda i: order.append(f"c{i}"), warmup=1, timed=2)
    assert order == ["p0", "c0", "p1", "c1", "p2", "c2"]
    assert len(Wall.times_ms(records)) == 2
