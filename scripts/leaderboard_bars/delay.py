"""A candidate made slower by a wait that nobody would see from outside: by cycles inside its kernel, or on a CPU.

Only for tests of what must notice it. The wait stands at the end of the last programs of a launch, so that it
lengthens the launch, whatever else runs on the other multiprocessors.
"""

import ast
import re
from collections.abc import Mapping

from tasks.candidate import Candidate
from tasks.solution import SourceFile

Shape = tuple[int, ...]
_LAST = 16
"""Programs that wait. They start together, each beside others on its multiprocessor, and one of them ends about last; of
264 some followed each other on one multiprocessor, and 3 % became 6."""

_WAIT = f"""

@triton.jit
def wait_at_the_end(cycles):
    if (cycles > 0) & (tl.program_id(0) + {_LAST} >= tl.num_programs(0)):
        tl.inline_asm_elementwise(
            "{{ .reg .pred early; .reg .u64 begin, now, past, wanted; cvt.u64.u32 wanted, $1; mov.u64 begin, %clock64; "
            "AGAIN: mov.u64 now, %clock64; sub.u64 past, now, begin; setp.lt.u64 early, past, wanted; @early bra AGAIN; "
            "mov.u32 $0, 0; }}",
            "=r,r", [cycles], dtype=tl.int32, is_pure=False, pack=1,
        )


"""
_CALL = """

def run(*arguments):
    shape = next(tuple(given.shape) for given in arguments if hasattr(given, "shape"))
    WAIT[0] = WAITS.get(shape, 0)
    return run_at_once(*arguments)
"""
_SLEEP = """

def run(*arguments):
    until = time.perf_counter_ns() + WAITS.get(next(tuple(g.shape) for g in arguments if hasattr(g, "shape")), 0)
    found = run_at_once(*arguments)
    while time.perf_counter_ns() < until:
        pass
    return found
"""


def delayed(candidate: Candidate, cycles: Mapping[Shape, int]) -> Candidate:
    """`candidate` with its one launched Triton kernel waiting so many cycles, by the first tensor's shape.

    `ValueError` when it does not launch one kernel from one place.
    """
    text = _lengthened(_only_source(candidate))
    head = f"WAITS = {dict(cycles)!r}\nWAIT = [0]\n"
    return _with(candidate, head + text + _CALL)


def delayed_on_cpu(candidate: Candidate, nanoseconds: Mapping[Shape, int]) -> Candidate:
    """One that is busy until so long after it was called."""
    renamed = _renamed(_only_source(candidate))
    return _with(candidate, f"import time\n\nWAITS = {dict(nanoseconds)!r}\n{renamed}{_SLEEP}")


def _only_source(candidate: Candidate) -> str:
    (source,) = candidate.solution.sources
    return source.content


def _with(candidate: Candidate, text: str) -> Candidate:
    (source,) = candidate.solution.sources
    sources = (SourceFile(path=source.path, content=text),)
    solution = candidate.solution.model_copy(update={"sources": sources})
    return candidate.model_copy(update={"solution": solution})


def _renamed(text: str) -> str:
    found, count = re.subn(r"^def run\(", "def run_at_once(", text, flags=re.M)
    if count != 1:
        raise ValueError("has no function `run` to wrap")
    return found


def _lengthened(text: str) -> str:
    """The kernel takes `wait_cycles` and ends with the wait; the launch gives it."""
    tree = ast.parse(text)
    kernels = {
        node.name: node for node in tree.body if isinstance(node, ast.FunctionDef) and _is_kernel(node)
    }
    launches = [node for node in ast.walk(tree) if isinstance(node, ast.Call) and _launched(node) in kernels]
    if len(launches) != 1:
        raise ValueError(f"launches kernels from {len(launches)} places, and one is needed")
    kernel = kernels[_launched(launches[0])]
    lines = text.splitlines(keepends=True)
    # from the end of the text to its beginning, so that places before stay what they are
    edits = [
        (*_end(_last_argument(launches[0])), ", wait_cycles=WAIT[0]"),
        (*_end(kernel.body[-1]), "\n    wait_at_the_end(wait_cycles)"),
        (*_end(kernel.args.args[-1]), ", wait_cycles"),
        (kernel.decorator_list[0].lineno - 1, 0, _WAIT),
    ]
    for line, column, more in sorted(edits, reverse=True):
        lines[line] = lines[line][:column] + more + lines[line][column:]
    return _renamed("".join(lines))


def _is_kernel(node: ast.FunctionDef) -> bool:
    return any("jit" in ast.unparse(each) for each in node.decorator_list)


def _launched(node: ast.Call) -> str:
    """The name of what is launched by `name[grid](...)`; empty for any other call."""
    is_launch = isinstance(node.func, ast.Subscript) and isinstance(node.func.value, ast.Name)
    return node.func.value.id if is_launch else ""  # type: ignore[attr-defined]


def _last_argument(call: ast.Call) -> ast.AST:
    return (call.keywords or call.args)[-1]


def _end(node: ast.AST) -> tuple[int, int]:
    """Line from 0, and column; templates are plain ASCII, whose columns are those of the text."""
    return node.end_lineno - 1, node.end_col_offset  # type: ignore[attr-defined]
