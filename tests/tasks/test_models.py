"""The models accept what the official ones accept and refuse what they refuse."""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from jsonschema import Draft202012Validator
from pydantic import ValidationError

from tasks.definition import Definition
from tasks.errors import FieldFault
from tasks.solution import Solution
from tasks.trace import Trace
from tasks.value import OfficialModel
from tasks.workload import Workload
from tests.fakes import official_files as files
from tests.fakes.mutations import mutations

KINDS: dict[str, tuple[type[OfficialModel], list[dict[str, Any]]]] = {
    "definition": (
        Definition,
        [files.definition(), {k: v for k, v in files.definition().items() if k not in ("op_type", "hf_id")}],
    ),
    "workload": (
        Workload,
        [
            files.workload(),
            files.workload(inputs={"x": {"type": "custom"}}),
            files.workload(
                inputs={"x": {"type": "safetensors", "path": "a/b.safetensors", "tensor_key": "x"}}
            ),
        ],
    ),
    "solution": (Solution, [files.solution(description="fast"), files.cuda_solution(spec_binding="torch")]),
    "trace": (
        Trace,
        [
            files.trace(),
            {"definition": "d", "workload": files.workload()},
            files.trace(
                evaluation={
                    "status": "TIMEOUT",
                    "environment": {"hardware": "B200"},
                    "timestamp": "now",
                    "correctness": None,
                }
            ),
        ],
    ),
}
CASES = [(kind, index) for kind, (_, documents) in KINDS.items() for index in range(len(documents))]


def _schema(schemas: Path, kind: str) -> Draft202012Validator:
    return Draft202012Validator(json.loads((schemas / f"{kind}.schema.json").read_text()))


def _faults(model: type[OfficialModel], content: Any) -> list[Any]:
    try:
        model.model_validate(content)
    except ValidationError as error:
        return error.errors(include_url=False)
    return []


def _is_beyond_the_schema(fault: Any) -> bool:
    """Whether the official model, too, checks this in code rather than in its schema."""
    own = isinstance(fault.get("ctx", {}).get("error"), FieldFault)
    negative_error = fault["type"] == "greater_than_equal" and str(fault["loc"][-1]).startswith("max_")
    return own or negative_error


def _strictly_valid(model: type[OfficialModel], content: Any) -> bool:
    """Without the conversions ("5" to 5, 1 to true) that the official models make as well."""
    try:
        model.model_validate_json(json.dumps(content), strict=True)
    except ValidationError:
        return False
    return True


@pytest.mark.parametrize(("kind", "index"), CASES)
def test_the_good_documents_are_good_for_schema_and_model(schemas: Path, kind: str, index: int) -> None:
    model, documents = KINDS[kind]
    assert list(_schema(schemas, kind).iter_errors(documents[index])) == []
    assert _faults(model, documents[index]) == []


@pytest.mark.parametrize(("kind", "index"), CASES)
def test_what_the_schema_accepts_the_model_accepts_but_for_the_checks_in_code(
    schemas: Path, kind: str, index: int
) -> None:
    model, documents = KINDS[kind]
    schema = _schema(schemas, kind)
    accepted = [(name, content) for name, content in mutations(documents[index]) if schema.is_valid(content)]
    assert len(accepted) > 20
    wrong = [
        name
        for name, content in accepted
        if not all(_is_beyond_the_schema(fault) for fault in _faults(model, content))
    ]
    assert wrong == []


@pytest.mark.parametrize(("kind", "index"), CASES)
def test_what_the_schema_refuses_the_model_refuses_but_for_official_conversions(
    schemas: Path, kind: str, index: int
) -> None:
    model, documents = KINDS[kind]
    schema = _schema(schemas, kind)
    refused = [
        (name, content) for name, content in mutations(documents[index]) if not schema.is_valid(content)
    ]
    assert len(refused) > 100
    assert [name for name, content in refused if _strictly_valid(model, content)] == []


def _flat(node: Any, definitions: dict[str, Any]) -> Any:
    """A schema without references, titles and defaults, with every list in one order."""
    if isinstance(node, list):
        return sorted(
            (_flat(item, definitions) for item in node), key=lambda item: json.dumps(item, sort_keys=True)
        )
    if not isinstance(node, dict):
        return node
    if "$ref" in node:
        return _flat(definitions[node["$ref"].rsplit("/", 1)[-1]], definitions)
    flat: dict[str, Any] = {}
    for key, value in node.items():
        if key == "properties":
            flat[key] = {name: _flat(inner, definitions) for name, inner in value.items()}
        elif key == "const":
            flat["enum"] = [value]  # one allowed value is written either way
        elif key not in ("$defs", "$schema", "title", "description", "default", "minimum"):
            flat[key] = _flat(value, definitions)
    return flat


@pytest.mark.parametrize("kind", KINDS)
def test_the_models_describe_themselves_as_the_official_ones_do(schemas: Path, kind: str) -> None:
    official = json.loads((schemas / f"{kind}.schema.json").read_text())
    ours = KINDS[kind][0].model_json_schema()
    assert _flat(ours, ours["$defs"]) == _flat(official, official["$defs"])


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=6,
)


@settings(max_examples=150, deadline=None)
@given(
    axes=st.dictionaries(st.text(max_size=3), st.integers(min_value=-1, max_value=9), max_size=3),
    source=st.sampled_from(["random", "scalar", "custom", "safetensors", "other"]),
    extra=st.dictionaries(st.sampled_from(["value", "path", "tensor_key", "more"]), json_values, max_size=3),
    tolerance=st.dictionaries(
        st.sampled_from(
            ["max_atol", "max_rtol", "required_match_ratio", "max_error_cap", "allow_negative_inf"]
        ),
        json_values,
        max_size=4,
    ),
)
def test_random_workloads_are_judged_alike_by_schema_and_model(
    schemas: Path, axes: dict[str, int], source: str, extra: dict[str, Any], tolerance: dict[str, Any]
) -> None:
    content = {"axes": axes, "inputs": {"x": {"type": source, **extra}}, "uuid": "u", "tolerance": tolerance}
    if _schema(schemas, "workload").is_valid(content):
        assert _faults(Workload, content) == []
    else:
        assert not _strictly_valid(Workload, content)


REFUSED_IN_CODE: dict[str, tuple[type[OfficialModel], dict[str, Any], str]] = {
    "a reference that does not parse": (Definition, files.definition(reference="def run("), "reference"),
    "a reference without run": (Definition, files.definition(reference="def other():\n  pass"), "reference"),
    "run as a variable": (Definition, files.definition(reference="run = print"), "reference"),
    "inputs in another order": (
        Definition,
        files.definition(reference="def run(weight, x, eps):\n  pass"),
        "reference",
    ),
    "one parameter too many": (
        Definition,
        files.definition(reference="def run(x, weight, eps, more=1):\n  pass"),
        "reference",
    ),
    "an input named as an axis": (
        Definition,
        files.definition(axes={**files.definition()["axes"], "x": {"type": "var"}}),
        "inputs.x",
    ),
    "an output named as an input": (
        Definition,
        files.definition(outputs={"x": {"shape": [], "dtype": "float32"}}),
        "outputs.x",
    ),
    "an undefined axis": (
        Definition,
        files.definition(outputs={"y": {"shape": ["nowhere"], "dtype": "float32"}}),
        "outputs.y.shape",
    ),
    "a custom entry that is not there": (
        Definition,
        files.definition(custom_inputs_entrypoint="get_inputs"),
        "custom_inputs_entrypoint",
    ),
    "a custom entry that is no name": (
        Definition,
        files.definition(custom_inputs_entrypoint="get inputs"),
        "custom_inputs_entrypoint",
    ),
    "custom inputs beside others": (
        Workload,
        files.workload(inputs={"x": {"type": "custom"}, "y": {"type": "random"}}),
        "inputs",
    ),
    "languages of both kinds": (
        Solution,
        files.solution(spec_languages=["triton", "cuda_cpp"]),
        "spec.languages",
    ),
    "a Python entry for C++": (Solution, files.solution(spec_languages=["cuda_cpp"]), "spec.entry_point"),
    "a C++ entry for Python": (Solution, files.cuda_solution(spec_languages=["triton"]), "spec.entry_point"),
    "an entry without function": (Solution, files.solution(spec_entry_point="main.py"), "spec.entry_point"),
    "an entry with two functions": (
        Solution,
        files.solution(spec_entry_point="main.py::a::b"),
        "spec.entry_point",
    ),
    "an entry file that is missing": (
        Solution,
        files.solution(spec_entry_point="other.py::run"),
        "spec.entry_point",
    ),
    "a path given twice": (Solution, files.solution(sources=files.solution()["sources"] * 2), "sources"),
    "an absolute path": (
        Solution,
        files.solution(sources=[{"path": "/main.py", "content": "x"}]),
        "sources[0].path",
    ),
    "a climbing path": (
        Solution,
        files.solution(sources=[{"path": "a/../../main.py", "content": "x"}]),
        "sources[0].path",
    ),
    "PASSED without performance": (
        Trace,
        files.trace(evaluation={**files.trace()["evaluation"], "performance": None}),
        "evaluation.status",
    ),
    "TIMEOUT with correctness": (
        Trace,
        files.trace(evaluation={**files.trace()["evaluation"], "status": "TIMEOUT"}),
        "evaluation.status",
    ),
    "INCORRECT_NUMERICAL with performance": (
        Trace,
        files.trace(evaluation={**files.trace()["evaluation"], "status": "INCORRECT_NUMERICAL"}),
        "evaluation.status",
    ),
}


@pytest.mark.parametrize("case", REFUSED_IN_CODE)
def test_what_official_validators_refuse_in_code_is_refused_here(schemas: Path, case: str) -> None:
    from tasks.validation import faults_of

    model, content, field = REFUSED_IN_CODE[case]
    assert _schema(schemas, model.__name__.lower()).is_valid(content)
    with pytest.raises(ValidationError) as caught:
        model.model_validate(content)
    faults = faults_of(caught.value, content)
    assert [fault.field for fault in faults] == [field]
    assert faults[0].mend


ACCEPTED: dict[str, tuple[type[OfficialModel], dict[str, Any]]] = {
    "unknown keys": (Definition, files.definition(tags=["a"], inputs=files.definition()["inputs"])),
    "digit strings and 0-d tensors": (
        Definition,
        files.definition(
            outputs={"y": {"shape": ["16", "rows"], "dtype": "bool"}, "z": {"shape": [], "dtype": "int8"}}
        ),
    ),
    "an axis of length zero": (Workload, files.workload(axes={"rows": 0})),
    "no languages": (Solution, files.solution(spec_languages=[])),
    "no languages and a C++ entry": (Solution, files.cuda_solution(spec_languages=[])),
    "a header as entry": (
        Solution,
        files.cuda_solution(spec_entry_point="k.cuh::run", sources=[{"path": "k.cuh", "content": "x"}]),
    ),
    "an axis that says only its value": (
        Definition,
        files.definition(axes={"rows": {}, "columns": {"value": 4}}),
    ),
    "keyword-only parameters": (
        Definition,
        files.definition(reference="def run(x, weight, eps, *, fast=False):\n  return x"),
    ),
    "an escape Python warns of": (
        Definition,
        files.definition(reference="def run(x, weight, eps):\n  return '\\d'"),
    ),
}


@pytest.mark.parametrize("case", ACCEPTED)
def test_what_official_models_let_through_passes_here(case: str) -> None:
    model, content = ACCEPTED[case]
    assert _faults(model, content) == []


def test_a_union_is_resolved_as_officially_by_what_is_given() -> None:
    inputs = {"a": {}, "b": {"value": True}, "c": {"path": "p", "tensor_key": "k"}, "d": {"value": 2.0}}
    read = Workload.model_validate(files.workload(inputs=inputs)).inputs
    assert [source.type for source in read.values()] == ["random", "scalar", "safetensors", "scalar"]
    assert read["b"].value is True and isinstance(read["d"].value, float)
    axes = Definition.model_validate(files.definition()).axes
    assert [axis.type for axis in axes.values()] == ["var", "const", "expr"]


def test_constants_given_by_a_workload_win_and_expressions_follow_file_order() -> None:
    definition = Definition.model_validate(files.definition())
    assert definition.resolve_axes({"rows": 3}) == {"half": 8, "rows": 3, "columns": 16}
    assert definition.resolve_axes({"rows": 3, "half": 5})["columns"] == 10
    assert definition.input_shapes({"rows": 3}) == {"x": (3, 16), "weight": (16,), "eps": None}
    with pytest.raises(ValueError, match="axis 'rows' has no value"):
        definition.input_shapes({})
