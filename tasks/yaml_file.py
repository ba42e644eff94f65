"""Reading YAML that a person wrote: its content, or one sentence with file, line and mend."""

from pathlib import Path
from typing import Any

import yaml

from tasks.document import regular
from tasks.errors import TaskError

MEND = "write `key: value`, one a line"


def read_yaml(file: Path, mend: str = MEND) -> Any:
    """`TaskError` for what is no readable file or no YAML; what it holds is not looked at."""
    return parse_yaml(readable_text(file), file, mend)


def readable_text(file: Path) -> str:
    """The text of a regular file."""
    try:
        return regular(file).read_text(encoding="utf-8")
    except OSError as error:
        why = (error.strerror or str(error)).lower()
        raise TaskError(f"cannot be read ({why})", file=file, mend="make it a readable text file") from None
    except UnicodeDecodeError as error:
        raise TaskError(f"is not UTF-8 at byte {error.start}", file=file, mend="save it as UTF-8") from None


def parse_yaml(text: str, file: Path, mend: str = MEND) -> Any:
    try:
        return yaml.safe_load(text)
    except RecursionError:
        raise TaskError("nests too deeply to be read", file=file, mend="write one key a line") from None
    except (
        yaml.YAMLError,
        ValueError,
    ) as error:  # also a number of thousands of digits, or a 31st of February
        mark = getattr(error, "problem_mark", None)
        problem = getattr(error, "problem", None) or getattr(error, "reason", None) or str(error)
        raise TaskError(
            f"is not valid YAML: {in_a_sentence(problem)}",
            file=file,
            field=f"line {mark.line + 1}" if mark is not None else None,
            mend=mend,
        ) from None


def in_a_sentence(said: str) -> str:
    """A parser's own words, on one line and without their capital."""
    said = " ".join(said.split())
    return said[:1].lower() + said[1:]
