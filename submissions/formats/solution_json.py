"""The official solution file, sources inline: what the SOL-ExecBench portal takes."""

from submissions.formats.base import Format
from submissions.submission import Submission
from tasks.document import parse_json
from tasks.solution import Solution
from tasks.solution_file import SOLUTION, write_solution
from tasks.validation import validated


def write(submission: Submission) -> bytes:
    return write_solution(submission.solution).encode()


def read(content: bytes) -> Solution:
    """`TaskError` for what is no solution, `ValueError` for one that would not be written like this."""
    solution = validated(Solution, parse_json(content.decode(), SOLUTION))
    if write_solution(solution).encode() != content:
        raise ValueError("it is not written as it would be written again")
    return solution


SOLUTION_JSON = Format(name="solution-json", file=SOLUTION, write=write, read=read)
