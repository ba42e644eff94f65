"""The entry point: whether it can be imported, is there, and takes what it will be given."""

import ast
import re
import warnings
from collections.abc import Iterator

from tasks.definition import Definition
from tasks.document import Document
from tasks.solution import Solution
from tasks.task import LintFinding

_FIELD = "spec.entry_point"
_DYNAMIC = re.compile(r"import \*|\bglobals\(|\bexec\(|\bsetattr\(|__getattr__")


def entry_findings(
    solution: Solution, document: Document, definition: Definition | None
) -> Iterator[LintFinding]:
    if solution.spec.is_cpp:
        yield from _binding(solution, document)
        return
    if not solution.spec.entry_file.endswith(".py"):
        yield document.finding(
            "error",
            "not-importable",
            _FIELD,
            f"{solution.spec.entry_file!r} is imported as Python, since no C++ language is named",
            "name the language, such as cuda_cpp",
        )
        return
    stem = solution.spec.entry_file.removesuffix(".py")
    if "." in stem or "" in stem.split("/"):
        yield document.finding(
            "error",
            "not-importable",
            _FIELD,
            f"{solution.spec.entry_file!r} cannot be imported as {stem.replace('/', '.')!r}",
            "name the file without dots, such as main.py",
        )
    yield from _python(solution, document, definition)


def _binding(solution: Solution, document: Document) -> Iterator[LintFinding]:
    text = "\n".join(source.content for source in solution.sources)
    if "PYBIND11_MODULE" not in text and "PyInit_" not in text:
        yield document.finding(
            "warning",
            "no-binding",
            "sources",
            "bind nothing to Python, so the built module cannot be imported",
            "add PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) and m.def for the entry function",
        )
    if not re.search(rf"\b{re.escape(solution.spec.entry_function)}\b", text):
        yield _absent(solution, document)


def _python(solution: Solution, document: Document, definition: Definition | None) -> Iterator[LintFinding]:
    for index, source in enumerate(solution.sources):
        if not source.path.endswith(".py"):
            continue
        is_entry = source.path == solution.spec.entry_file
        module = _parsed(source.content)
        if isinstance(module, str):
            yield document.finding(
                "error" if is_entry else "warning",
                "bad-syntax",
                f"sources[{index}].content",
                f"{source.path} is not valid Python: {module}",
                "correct the code",
            )
        elif is_entry:
            yield from _function(solution, document, definition, module, source.content)
        if re.search(r"cpp_extension|\bload_inline\b", source.content):
            yield document.finding(
                "warning",
                "runtime-compilation",
                f"sources[{index}].content",
                "uses torch.utils.cpp_extension, whose load and load_inline raise in the evaluator",
                "write a C++ solution (language cuda_cpp) instead",
            )


def _function(
    solution: Solution, document: Document, definition: Definition | None, module: ast.Module, text: str
) -> Iterator[LintFinding]:
    name = solution.spec.entry_function
    functions = [n for n in module.body if isinstance(n, ast.FunctionDef) and n.name == name]
    if functions and definition is not None and _keeps_signature(functions[-1]):
        yield from _arity(solution, document, definition, functions[-1].args)
    elif not name.isidentifier() or not (re.search(rf"\b{re.escape(name)}\b", text) or _DYNAMIC.search(text)):
        yield _absent(solution, document)


def _keeps_signature(function: ast.FunctionDef) -> bool:
    """Whether it is called with the arguments that it lists: any decorator but torch's own may change that."""
    return all(re.search(r"no_grad|inference_mode", ast.unparse(d)) for d in function.decorator_list)


def _absent(solution: Solution, document: Document) -> LintFinding:
    problem = f"function {solution.spec.entry_function!r} occurs in none of the files it could be in"
    return document.finding("error", "no-entry-function", _FIELD, problem, "define it or correct the name")


def _arity(
    solution: Solution, document: Document, definition: Definition, arguments: ast.arguments
) -> Iterator[LintFinding]:
    filled = solution.spec.destination_passing_style
    inputs, outputs = len(definition.inputs), len(definition.outputs)
    given = inputs + outputs if filled else inputs
    most = len(arguments.posonlyargs) + len(arguments.args)
    least = most - len(arguments.defaults)
    if least <= given and (given <= most or arguments.vararg):
        return
    other = inputs if filled else inputs + outputs
    mend = (
        f"set destination_passing_style to {str(not filled).lower()}"
        if least <= other <= most
        else "take the definition's inputs in order" + (", then its outputs" if filled else "")
    )
    said = "" if "destination_passing_style" in document.content["spec"] else " (true by default)"
    style = f"destination_passing_style {str(filled).lower()}{said}"
    yield document.finding(
        "error",
        "wrong-arity",
        _FIELD,
        f"{solution.spec.entry_function!r} takes {least} to {most} arguments and gets {given}: {style}",
        mend,
    )


def _parsed(text: str) -> ast.Module | str:
    """The syntax tree, or why there is none."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return ast.parse(text)
    except SyntaxError as error:
        return f"{error.msg}, line {error.lineno}"
    except (ValueError, RecursionError, MemoryError) as error:
        return str(error) or "it nests too deeply"
