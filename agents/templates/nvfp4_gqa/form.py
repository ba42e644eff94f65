"""What attention over an NVFP4 cache computes, and which input is what."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Nvfp4:
    """The inputs of one NVFP4 tensor: e2m1 codes two a byte, an e4m3 scale every 16, one fp32 factor."""

    codes: str
    scales: str
    factor: str


@dataclass(frozen=True)
class Nvfp4Gqa:
    """New tokens are projected to heads, rounded to bf16, and attend to a cache and causally to themselves."""

    inputs: tuple[str, ...]
    """All inputs of the definition, in calling order."""
    token: Nvfp4
    """[sequences, new tokens, width]"""
    weight: Nvfp4
    """[query, key and value heads, width]"""
    key: Nvfp4
    """[sequences, cached tokens, key-value heads, head_dim]"""
    value: Nvfp4
    output: str
    """[sequences, new tokens, query heads x head_dim], bf16"""
    query_heads: int
    kv_heads: int
    head_dim: int

    @property
    def group(self) -> int:
        return self.query_heads // self.kv_heads
