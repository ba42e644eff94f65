"""What the rules for `rms_norm` and `layer_norm` share: which operands the call can take as they are."""

from agents.library.rules.base import Writer
from agents.reading.kinds import Scalar
from agents.reading.pattern import Found, uncast
from agents.reading.reading import Reading
from agents.reading.term import Term


def normalised_call(function: str, found: Found, reading: Reading, writer: Writer) -> str:
    """The call over the last dimension of `x`, with `weight` and `bias` when they were found.

    The library widens bf16 and fp16 inside, so a reference that only widens in order to normalise is written
    without that. Where types do not allow it, the call is made in the wide type.
    """
    wanted = reading.tensor(found["whole"]).dtype
    plain = uncast(found["x"], reading)
    parameters = [key for key in ("weight", "bias") if key in found]
    own = {reading.tensor(plain).dtype, *(reading.tensor(found[key]).dtype for key in parameters)}
    if own == {wanted} and wanted is not None:
        x = writer.name(plain)
        arguments = [writer.text(found[key]) for key in parameters]
        return _call(function, x, arguments, writer.text(found["eps"]))
    x = writer.name(found["x"])
    arguments = [f"{writer.text(found[key])}.to({x}.dtype)" for key in parameters]
    suffix = f".to(torch.{wanted})" if wanted != reading.tensor(found["x"]).dtype else ""
    return _call(function, x, arguments, writer.text(found["eps"])) + suffix


def is_number(term: Term, reading: Reading) -> bool:
    """The library takes epsilon as a Python number only."""
    return isinstance(reading.kind(term), Scalar)


def _call(function: str, x: str, arguments: list[str], eps: str) -> str:
    given = "".join(f", {key}={text}" for key, text in zip(("weight", "bias"), arguments, strict=False))
    return f"torch.nn.functional.{function}({x}, ({x}.shape[-1],){given}, eps={eps})"
