"""What boards accept: one file a format, found by its name."""

from submissions.formats.base import Format
from submissions.formats.solution_json import SOLUTION_JSON

FORMATS: dict[str, Format] = {format.name: format for format in (SOLUTION_JSON,)}
