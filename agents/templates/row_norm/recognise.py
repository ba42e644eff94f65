"""From a task to a `RowNorm`: the reference read backwards from what it returns."""

from agents.library.rules.layer_norm import LAYER_CORE
from agents.library.rules.rms_norm import RMS_CORE
from agents.reading.kinds import Kind, Scalar
from agents.reading.pattern import Found, Pattern, uncast
from agents.reading.reading import Reading
from agents.reading.straighten import NotStraight
from agents.reading.term import Term
from agents.templates.row_norm.form import RowNorm
from tasks.task import Task

_LIBRARY = {
    "rms": "torch.nn.functional.rms_norm(_x, _shape, eps=_eps)",
    "layer": "torch.nn.functional.layer_norm(_x, _shape, eps=_eps)",
}
_CORES = {
    "rms": Pattern(*(f"cast({core})" for core in (*RMS_CORE, _LIBRARY["rms"]))),
    "layer": Pattern(*(f"cast({core})" for core in (*LAYER_CORE, _LIBRARY["layer"]))),
}
_WHOLE_LIBRARY = {
    "rms": Pattern("cast(torch.nn.functional.rms_norm(_x, _shape, _weight, _eps))"),
    "layer": Pattern("cast(torch.nn.functional.layer_norm(_x, _shape, _weight, _bias, _eps))"),
}
_BIASED = Pattern("cast(cast(_scaled) + cast(_bias))")
_GAINED = Pattern("cast(_hat * cast(_weight))")
_GAINED_FROM_ONE = Pattern("cast(_hat * (1 + cast(_weight)))")
_SUM = Pattern("cast(_x) + cast(_added)")
_NARROW = ("bfloat16", "float16")
_FLOATS = ("float32", *_NARROW)


def recognise(task: Task) -> RowNorm | None:
    """None unless every output is the norm of an input (or of the sum of two), or that sum."""
    try:
        reading = Reading(task.definition)
    except NotStraight:
        return None
    results = dict(zip(task.definition.outputs, reading.results, strict=False))
    for result in results.values():
        for found in _forms(result, reading):
            form = _completed(task, reading, found, results)
            if form is not None:
                return form
    return None


def _forms(result: Term, reading: Reading) -> list[dict[str, Term | str]]:
    """Every way to read `result` as a norm: holes x and eps, and of weight, bias, hat what there is."""
    forms: list[dict[str, Term | str]] = []
    for kind in ("rms", "layer"):
        forms += [{**found, "kind": kind} for found in _WHOLE_LIBRARY[kind].matches(result, reading)]
        for outer in _gained(result, reading):
            for core in _CORES[kind].matches(outer["hat"], reading):
                forms.append({**outer, **core, "kind": kind})
    return forms


def _gained(result: Term, reading: Reading) -> list[Found]:
    """`hat`, the normalised row, and what it is multiplied by and shifted by."""
    ways: list[Found] = []
    for found in (*_BIASED.matches(result, reading), {"scaled": result}):
        bias = {key: term for key, term in found.items() if key == "bias"}
        for gained in _GAINED_FROM_ONE.matches(found["scaled"], reading):
            ways.append({**bias, **gained, "offset": gained["weight"]})
        ways += [{**bias, **gained} for gained in _GAINED.matches(found["scaled"], reading)]
        ways.append({**bias, "hat": found["scaled"]})
    return ways


def _completed(
    task: Task, reading: Reading, found: dict[str, Term | str], results: dict[str, Term]
) -> RowNorm | None:
    terms = {key: value for key, value in found.items() if isinstance(value, Term)}
    parameters = {
        key: _input(terms[key], reading) for key in ("weight", "bias") if _given(terms, key, reading)
    }
    source = _source(terms["x"], reading)
    eps = _epsilon(terms["eps"], reading)
    hat_rounding = _rounding(terms["hat"], reading) if "weight" in parameters and "hat" in terms else None
    if (
        source is None
        or eps is None
        or None in parameters.values()
        or (hat_rounding and "bias" in parameters)
    ):
        return None
    x, added, base = source
    size = _row_size(reading, x, [name for name in parameters.values() if name])
    roles = _roles(reading, results, base, added is not None)
    if size is None or roles is None:
        return None
    lengths = [size] if isinstance(size, int) else _lengths(task, x)
    return RowNorm(
        kind="rms" if found["kind"] == "rms" else "layer",
        inputs=tuple(task.definition.inputs),
        x=x,
        added=added,
        sum_rounded_to=_rounding(base, reading) if added is not None else None,
        weight=parameters.get("weight"),
        weight_offset=1.0 if "offset" in terms else 0.0,
        bias=parameters.get("bias"),
        hat_rounded_to=hat_rounding,
        eps=eps,
        hidden=size if isinstance(size, int) else None,
        longest=max(lengths),
        shortest=min(lengths),
        bytes_read=sum(task.definition.inputs[name].dtype.bytes for name in (x, added) if name),
        outputs=tuple(results),
        normed_output=roles[0],
        sum_output=roles[1],
    )


def _given(terms: dict[str, Term], key: str, reading: Reading) -> bool:
    return key in terms and reading.look_through(terms[key]).value is not None


def _input(term: Term, reading: Reading) -> str | None:
    """The name of the floating-point input that `term` is."""
    plain = reading.look_through(uncast(term, reading))
    kind = reading.kind(plain)
    if plain.op != "name" or plain.value not in reading.inputs or not isinstance(kind, Kind):
        return None
    return str(plain.value) if kind.dtype in _FLOATS else None


def _source(wide: Term, reading: Reading) -> tuple[str, str | None, Term] | None:
    """The tensor that is normalised: an input, or the sum of two inputs of one shape; and its term."""
    base = uncast(wide, reading)
    x = _input(base, reading)
    if x is not None:
        return x, None, base
    for found in _SUM.matches(base, reading):
        first, second = _input(found["x"], reading), _input(found["added"], reading)
        if first and second and reading.tensor(found["x"]).same_shape(reading.tensor(found["added"])):
            return first, second, base
    return None


def _rounding(term: Term, reading: Reading) -> str | None:
    dtype = reading.tensor(term).dtype
    return dtype if dtype in _NARROW else None


def _epsilon(term: Term, reading: Reading) -> float | str | None:
    plain = reading.look_through(term)
    if plain.op == "name" and isinstance(reading.inputs.get(str(plain.value)), Scalar):
        return str(plain.value)
    value = reading.scalar(term)
    return float(value) if isinstance(value, int | float) else None


def _row_size(reading: Reading, x: str, vectors: list[str]) -> int | str | None:
    """The last size of `x`, when every gain and offset is a vector of that length."""
    shape = _shape(reading, x)
    if len(shape) < 2 or any(_shape(reading, vector) != shape[-1:] for vector in vectors):
        return None
    size = shape[-1]
    return size if isinstance(size, int | str) else None


def _shape(reading: Reading, name: str) -> tuple[int | str | None, ...]:
    kind = reading.inputs[name]
    return (kind.shape or ()) if isinstance(kind, Kind) else ()


def _lengths(task: Task, x: str) -> list[int]:
    shapes = [task.definition.input_shapes(workload.axes)[x] for workload in task.workloads]
    return [shape[-1] for shape in shapes if shape] or [1]


def _roles(
    reading: Reading, results: dict[str, Term], base: Term, has_sum: bool
) -> tuple[str, str | None] | None:
    """The output that holds the norm, and the one that holds the sum; None when there is any other."""
    sums = [name for name, term in results.items() if has_sum and reading.same(uncast(term, reading), base)]
    others = [name for name in results if name not in sums]
    complete = len(results) == len(reading.definition.outputs)
    if not complete or len(others) != 1 or len(sums) > 1:
        return None
    return others[0], sums[0] if sums else None
