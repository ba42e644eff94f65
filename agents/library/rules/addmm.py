"""residual + x @ weight: one `torch.addmm`, which adds in the epilogue and rounds once instead of twice."""

from agents.library.rules.base import Rule, Writer
from agents.reading.pattern import Found, Pattern
from agents.reading.reading import Reading
from agents.reading.term import Term

_SUM = Pattern("_residual + torch.matmul(_x, _weight)", "_residual + torch.nn.functional.linear(_x, _rows)")


def match(term: Term, reading: Reading) -> Found | None:
    for found in _SUM.matches(term, reading):
        weight = reading.tensor(found.get("weight", found.get("rows", term)))
        residual, x = reading.tensor(found["residual"]), reading.tensor(found["x"])
        whole = reading.tensor(term)
        one_type = len({residual.dtype, x.dtype, weight.dtype}) == 1 and x.dtype is not None
        if one_type and weight.rank == 2 and residual.same_shape(whole):
            return found
    return None


def rewrite(found: Found, reading: Reading, writer: Writer) -> str:
    x, residual = writer.name(found["x"]), writer.name(found["residual"])
    weight = f"{writer.text(found['rows'])}.T" if "rows" in found else writer.text(found["weight"])
    if reading.tensor(found["x"]).rank == 2:
        return f"torch.addmm({residual}, {x}, {weight})"
    rows = f"{residual}.reshape(-1, {residual}.shape[-1]), {x}.reshape(-1, {x}.shape[-1])"
    return f"torch.addmm({rows}, {weight}).reshape({residual}.shape)"


RULE = Rule("addmm", "reassociated", match, rewrite)
