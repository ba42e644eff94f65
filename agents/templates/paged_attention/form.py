"""What attention over a paged cache computes, and which input is what."""

from dataclasses import dataclass


@dataclass(frozen=True)
class PagedAttention:
    """Query heads in groups of `group` share a key-value head; the last query of a sequence sees its last key."""

    inputs: tuple[str, ...]
    """All inputs of the definition, in calling order."""
    outputs: tuple[str, ...]
    query: str
    """[tokens, query heads, head_dim]"""
    keys: str
    """[pages, page size, key-value heads, head_dim]; [keys, key-value heads, head_dim] where there are no pages."""
    values: str
    query_starts: str | None
    """[sequences + 1]; None where every sequence has one query."""
    key_starts: str
    """[sequences + 1]: where each sequence begins in `pages`, or in `keys`."""
    pages: str | None
    """Page numbers of one sequence after another; None where the keys themselves are in that order."""
    last_page_tokens: str | None
    """[sequences]; None where a page is one key."""
    scale: str
    output: str
    lse: str | None
    lse_base: int | None
    """2, or None for natural logarithms."""
    query_heads: int
    kv_heads: int
    head_dim: int

    @property
    def group(self) -> int:
        return self.query_heads // self.kv_heads

    @property
    def group_width(self) -> int:
        """Rows that a token's group takes in a tile: a power of two."""
        return 1 << (self.group - 1).bit_length()
