"""Every shipped task computed a second time, naively and in other arithmetic, rightly and wrongly.

From these come the tolerances (`scripts/tolerance_table.py`) and the independent answers that tests compare
the references with.
"""

from scripts.alternatives.case import Case
from scripts.alternatives.flashinfer import FLASHINFER
from scripts.alternatives.l1 import L1
from scripts.alternatives.l2 import L2
from scripts.alternatives.quantization import QUANTIZATION

CASES: dict[str, Case] = {**L1, **L2, **QUANTIZATION, **FLASHINFER}

__all__ = ["CASES", "Case"]
