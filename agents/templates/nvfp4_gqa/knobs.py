"""What can be turned in attention over an NVFP4 cache, and what makes no sense."""

from agents.templates.base import Knobs, KnobSpace
from agents.templates.nvfp4_gqa.form import Nvfp4Gqa

_MOST_SHARED_BYTES = 220 * 1024


def nvfp4_gqa_knobs(gqa: Nvfp4Gqa) -> KnobSpace:
    """Of attention: `block_n` keys at a time, `warps`, `stages`, and `programs` wanted on a multiprocessor (chunks
    follow from that). Of the projection: `head_columns` and `head_bytes` (two codes each) at a time, `head_stages`."""

    def allows(knobs: Knobs) -> bool:
        return _shared_bytes(knobs, gqa) * int(knobs["programs"]) <= _MOST_SHARED_BYTES

    suggested = [
        {"block_n": block_n, "warps": warps, "stages": stages, "programs": programs, "head_columns": columns,
         "head_bytes": head_bytes, "head_stages": 3}
        for block_n, warps, stages, programs, columns, head_bytes in (
            (64, 4, 3, 3, 64, 128), (128, 4, 1, 4, 64, 128), (64, 4, 3, 2, 32, 128), (64, 4, 3, 4, 32, 256),
        )
    ]  # fmt: skip
    return KnobSpace(
        choices={
            "block_n": (32, 64, 128),
            "warps": (2, 4, 8),
            "stages": (1, 2, 3, 4),
            "programs": (1, 2, 3, 4, 6),
            "head_columns": (16, 32, 64),
            "head_bytes": (64, 128, 256),
            "head_stages": (2, 3, 4),
        },
        allows=allows,
        start=tuple(knobs for knobs in suggested if allows(knobs)),
    )


def _shared_bytes(knobs: Knobs, gqa: Nvfp4Gqa) -> int:
    """Codes and scales in stages, one block of decoded keys and values."""
    block_n = int(knobs["block_n"])
    staged = int(knobs["stages"]) * block_n * gqa.head_dim * 9 // 8
    return staged + block_n * gqa.head_dim * 2
