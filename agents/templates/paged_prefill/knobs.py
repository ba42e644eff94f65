"""What can be turned in prefill over pages, and what makes no sense."""

from agents.templates.base import Knobs, KnobSpace
from agents.templates.paged_attention import PagedAttention

_MOST_SHARED_BYTES = 227 * 1024
"""A program's, on Hopper and Blackwell."""
_WARP = 32


def prefill_knobs(attention: PagedAttention) -> KnobSpace:
    """Knobs: `block_m` rows (tokens times heads of a group), `block_n` keys at a time, `warps`, and `stages`.

    A tile of two `parts` has that many rows twice: they share the keys that are read, and the softmax of one part
    runs while the matrix units gather values for the other. Page numbers are loaded ahead of the keys that they
    point to, and take stages of their own: 3 stages hold two blocks of keys and values, 5 three, 7 four.
    """

    def allows(knobs: Knobs) -> bool:
        return _makes_sense(knobs, attention) and _fits(knobs, attention)

    suggested = [
        {"block_m": block_m, "block_n": block_n, "warps": warps, "stages": stages, "parts": parts}
        for block_m, block_n, warps, stages, parts in (
            (128, 64, 8, 3, 1), (128, 64, 8, 5, 2), (128, 128, 8, 3, 1), (128, 64, 8, 5, 1), (64, 64, 4, 3, 2),
        )
    ]  # fmt: skip
    return KnobSpace(
        choices={
            "block_m": (16, 32, 64, 128, 256),
            "block_n": (32, 64, 128),
            "warps": (4, 8),
            "stages": (2, 3, 5, 7),
            "parts": (1, 2),
        },
        allows=allows,
        start=tuple(knobs for knobs in suggested if allows(knobs)),
    )


def shared_bytes(knobs: Knobs, attention: PagedAttention) -> int:
    """Queries, and keys, values and page numbers in as many blocks as the stages hold."""
    blocks = (int(knobs["stages"]) + 1) // 2
    keys = blocks * int(knobs["block_n"])
    return 2 * attention.head_dim * (int(knobs["block_m"]) * int(knobs["parts"]) + 2 * keys) + 2 * 4 * keys


def _makes_sense(knobs: Knobs, attention: PagedAttention) -> bool:
    """At least a token a tile; 64 rows to every four warps, as the matrix units of Hopper take them."""
    rows, warps = int(knobs["block_m"]), int(knobs["warps"])
    return (
        rows >= attention.group_width and rows * 4 >= 64 * warps * (rows > 64) and (warps == 4 or rows >= 128)
    )


def _fits(knobs: Knobs, attention: PagedAttention) -> bool:
    """Scores and gathered values in registers, blocks in shared memory."""
    threads = _WARP * int(knobs["warps"])
    rows = int(knobs["block_m"]) * int(knobs["parts"])
    sums = rows * (attention.head_dim + int(knobs["block_n"])) // threads
    return (
        sums <= (192 if knobs["parts"] == 2 else 128) and shared_bytes(knobs, attention) <= _MOST_SHARED_BYTES
    )
