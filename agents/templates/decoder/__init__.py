"""Pre-norm decoder layers, or their MLP half: library products, and kernels for what lies between."""

from agents.templates.decoder.family import DecoderFamily
from agents.templates.decoder.form import Attention, Decoder

__all__ = ["Attention", "Decoder", "DecoderFamily"]
