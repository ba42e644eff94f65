"""From pydantic's errors to one sentence each: field, problem, mend."""

import difflib
import re
from collections.abc import Mapping, Sequence
from typing import Any, TypeVar

from pydantic import ValidationError
from pydantic_core import ErrorDetails

from tasks.definition import AxisConst, AxisExpr, AxisVar
from tasks.document import Document, json_path, kind_of
from tasks.errors import FieldFault
from tasks.value import OfficialModel, Value
from tasks.workload import CustomInput, RandomInput, SafetensorsInput, ScalarInput

Model = TypeVar("Model", bound=OfficialModel)
_BRANCHES: dict[str, str] = {
    model.model_fields["type"].default: model.__name__
    for model in (AxisConst, AxisVar, AxisExpr, RandomInput, ScalarInput, SafetensorsInput, CustomInput)
}
"""Of a `type` value, the model that it selects."""
_WANTED = {
    "model_type": "an object",
    "dict_type": "an object",
    "tuple_type": "a list",
    "string_type": "text",
    "int_type": "a whole number",
    "int_parsing": "a whole number",
    "int_from_float": "a whole number",
    "int_parsing_size": "a whole number of reasonable size",
    "float_type": "a number",
    "float_parsing": "a number",
    "bool_type": "true or false",
    "bool_parsing": "true or false",
    "string_too_short": "text that is not empty",
    "greater_than_equal": "at least 0",
    "too_short": "a list that is not empty",
}


class Fault(Value):
    """What is wrong with one field of a document."""

    field: str
    problem: str
    mend: str


def validated(model: type[Model], document: Document) -> Model:
    """The document as `model`; `TaskError` with its first fault."""
    try:
        return model.model_validate(document.content)
    except ValidationError as error:
        fault = faults_of(error, document.content)[0]
        raise document.fault(fault.field, fault.problem, fault.mend) from error


def faults_of(error: ValidationError, content: Any) -> tuple[Fault, ...]:
    """Every fault that `error` holds, one a field, in the document's words."""
    by_field: dict[str, Fault] = {}
    for detail in error.errors(include_url=False):
        if detail["type"] == "too_short" and detail["input"]:
            continue  # pydantic counts only the good items of a list: the bad ones are named already
        path, branches = _readable(detail["loc"], content)
        node, wanted = _typed_node(path, content)
        if branches and node is not None and wanted is None:
            fault = _unknown_type(path, node)
        elif wanted is not None and branches and wanted not in branches:
            continue
        else:
            fault = _fault(detail, path)
        by_field.setdefault(fault.field, fault)
    return tuple(by_field.values())


def _readable(loc: Sequence[str | int], content: Any) -> tuple[list[str | int], list[str]]:
    """`loc` without the names of union branches, and those names."""
    path: list[str | int] = []
    branches: list[str] = []
    node = content
    for index, part in enumerate(loc):
        if _holds(node, part):
            path.append(part)
            node = node[part]
        elif isinstance(node, dict) and part not in _BRANCHES.values() and index == len(loc) - 1:
            path.append(part)
        elif isinstance(part, str):
            branches.append(part)
    return path, branches


def _holds(node: Any, part: str | int) -> bool:
    if isinstance(node, list):
        return isinstance(part, int) and part < len(node)
    return isinstance(node, dict) and part in node


def _typed_node(path: list[str | int], content: Any) -> tuple[Mapping[str, Any] | None, str | None]:
    """The innermost object on `path` that gives a `type`, and the model which that selects."""
    found: Mapping[str, Any] | None = None
    node = content
    for part in (*path, None):
        if isinstance(node, dict) and "type" in node:
            found = node
        if isinstance(node, dict) and part in node:
            node = node[part]
    if found is None or not isinstance(found["type"], str):
        return found, None
    return found, _BRANCHES.get(found["type"])


def _unknown_type(path: list[str | int], node: Mapping[str, Any]) -> Fault:
    kinds = ["const", "var", "expr"] if path and path[0] == "axes" else [*_BRANCHES][3:]
    where = path if path and path[-1] == "type" else [*path, "type"]
    return Fault(
        field=json_path(where),
        problem=f"is {kind_of(node['type'])}, which is no known kind",
        mend=_choose(node["type"], kinds),
    )


def _fault(detail: ErrorDetails, path: list[str | int]) -> Fault:
    own = detail.get("ctx", {}).get("error")
    if isinstance(own, FieldFault):
        field = f"{json_path(path)}.{own.field}" if path else own.field
        return Fault(field=field, problem=own.problem, mend=own.mend)
    field = json_path(path)
    kind, given = detail["type"], detail["input"]
    if kind == "missing":
        return Fault(field=field, problem="is missing", mend="add it")
    if kind in ("enum", "literal_error"):
        return _not_one_of(field, given, detail["ctx"]["expected"])
    wanted = _WANTED.get(kind)
    problem = f"should be {wanted}, not {kind_of(given)}" if wanted else detail["msg"].lower()
    return Fault(field=field, problem=problem, mend=f"give {wanted}" if wanted else "correct the value")


def _not_one_of(field: str, given: Any, expected: str) -> Fault:
    allowed = re.findall(r"'([^']+)'", expected)
    problem = f"is {kind_of(given)}, which is not allowed"
    return Fault(field=field, problem=problem, mend=_choose(given, allowed))


def _choose(given: Any, allowed: Sequence[str]) -> str:
    near = nearest(given, allowed) if isinstance(given, str) else None
    return f"write {near!r}" if near else f"write one of {', '.join(allowed)}"


def nearest(word: str, allowed: Sequence[str]) -> str | None:
    """The one of `allowed` that `word` most likely stands for, whatever its case, or None."""
    folded = {name.casefold().replace("-", "_"): name for name in allowed}
    wanted = word.casefold().replace("-", "_")
    for name in folded:
        if min(len(name), len(wanted)) >= 4 and (name.endswith(f"_{wanted}") or wanted.endswith(f"_{name}")):
            return folded[name]
    close = difflib.get_close_matches(wanted, list(folded), n=1, cutoff=0.75)
    return folded[close[0]] if close else None
