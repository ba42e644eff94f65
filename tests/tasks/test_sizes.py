"""Bytes by arithmetic."""

import pytest
import torch

from tasks.inputs import InputGenerator
from tasks.sizes import gib, input_bytes, output_bytes
from tests.fakes.definitions import definition, workload


def test_bytes_are_those_of_the_tensors_that_are_made() -> None:
    made = definition(
        {"a": "bfloat16 n m", "b": "float8_e4m3fn n", "c": "int64 m", "s": "float32 ()", "z": "float32"},
        {"n": None, "m": 6},
        outputs={"o": "float32 n n", "flag": "bool"},
    )
    values = InputGenerator(made, workload({"n": 5})).make()
    tensors = [value for value in values if isinstance(value, torch.Tensor)]
    assert input_bytes(made, {"n": 5}) == sum(t.nbytes for t in tensors) == 60 + 5 + 48 + 4
    assert output_bytes(made, {"n": 5}) == 101


@pytest.mark.parametrize(
    ("count", "said"),
    [(24 << 30, "24.0 GiB"), (3 << 29, "1.5 GiB"), (5 << 20, "5.0 MiB"), (2048, "2.0 KiB"), (7, "7 B")],
)
def test_sizes_read_well(count: int, said: str) -> None:
    assert gib(count) == said
