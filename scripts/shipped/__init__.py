"""The shipped tasks: tables of axes, inputs, sizes and tolerances, from which the official files are made.

`python -m scripts.shipped` writes `definition.json` and `workload.jsonl` beside each `reference.py`.
"""

from scripts.shipped.assemble import ShippedTask
from scripts.shipped.flashinfer import FLASHINFER
from scripts.shipped.l1 import L1
from scripts.shipped.l2 import L2
from scripts.shipped.quantization import QUANTIZATION

SHIPPED: tuple[ShippedTask, ...] = (*L1, *L2, *QUANTIZATION, *FLASHINFER)

__all__ = ["SHIPPED", "ShippedTask"]
