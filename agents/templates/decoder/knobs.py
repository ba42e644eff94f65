"""What can be turned in a decoder layer."""

from agents.templates.base import Knob, Knobs, KnobSpace
from agents.templates.decoder.form import Decoder


def decoder_knobs(form: Decoder) -> KnobSpace:
    """`fused_to`: up to so many tokens one kernel computes gate, up and their product, `tile` of it as `rows x
    columns x depth x warps x stages`; beyond, the library's products and a kernel for what is between. `backend`:
    whose attention is tried first. `merged`: the residual is added inside the library's product."""
    first: dict[str, Knob] = {
        "fused_to": 256,
        "tile": "64x64x64x4x4",
        "backend": "CUDNN_ATTENTION",
        "merged": True,
    }
    backends = ("CUDNN_ATTENTION", "FLASH_ATTENTION", "EFFICIENT_ATTENTION")
    return KnobSpace(
        choices={
            "fused_to": (0, 128, 256, 1024, 1 << 20),
            "tile": ("64x64x64x4x4", "128x64x64x8x4", "64x32x128x4x3", "128x128x64x8x3"),
            "backend": backends if form.attention is not None else backends[:1],
            "merged": (True, False),
        },
        allows=_allows,
        start=(
            first,
            {**first, "fused_to": 0},
            {**first, "fused_to": 1024, "tile": "128x64x64x8x4"},
            {**first, "fused_to": 1 << 20, "tile": "128x128x64x8x3"},
        ),
    )


def _allows(knobs: Knobs) -> bool:
    """One tile stands for all where none is used."""
    return bool(knobs["fused_to"]) or knobs["tile"] == "64x64x64x4x4"
