"""What can be turned in decoding over pages, and what makes no sense."""

from agents.templates.base import Knobs, KnobSpace
from agents.templates.paged_attention import PagedAttention

_MOST_SHARED_BYTES = 227 * 1024
"""Of a multiprocessor, on Hopper and Blackwell."""


def decode_knobs(attention: PagedAttention) -> KnobSpace:
    """Knobs: `block_n` keys at a time, `warps`, `programs` wanted on a multiprocessor (chunks follow from that), and
    `stages`: page numbers take stages of their own, so 5 hold two blocks of keys and values, 7 three, 9 four. One
    stage loads through registers, past the cache, so that what lies there need not be written back first.
    """

    def allows(knobs: Knobs) -> bool:
        return shared_bytes(knobs, attention) * int(knobs["programs"]) <= _MOST_SHARED_BYTES

    suggested = [
        {"block_n": block_n, "warps": warps, "programs": programs, "stages": stages}
        for block_n, warps, programs, stages in (
            (128, 8, 2, 3), (64, 8, 1, 5), (64, 4, 1, 7), (64, 8, 1, 7), (64, 2, 1, 7), (32, 2, 4, 3),
        )
    ]  # fmt: skip
    return KnobSpace(
        choices={
            "block_n": (32, 64, 128),
            "warps": (2, 4, 8),
            "programs": (1, 2, 3, 4, 6, 8),
            "stages": (1, 3, 5, 7, 9),
        },
        allows=allows,
        start=tuple(knobs for knobs in suggested if allows(knobs)),
    )


def shared_bytes(knobs: Knobs, attention: PagedAttention) -> int:
    """Keys, values and page numbers in as many blocks as the stages hold; queries and weights beside them."""
    blocks = max(1, (int(knobs["stages"]) - 1) // 2)
    block_n = int(knobs["block_n"])
    return blocks * block_n * (4 * attention.head_dim + 8) + 32 * (attention.head_dim + 2 * block_n)
