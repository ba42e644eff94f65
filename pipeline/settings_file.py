"""`kernelarc.toml` or `kernelarc.yaml` in a folder: its keys, or one sentence with file, line and mend."""

import re
import tomllib
from pathlib import Path
from typing import Any

from tasks.errors import TaskError
from tasks.yaml_file import in_a_sentence, parse_yaml, readable_text

FILES = ("kernelarc.toml", "kernelarc.yaml", "kernelarc.yml")
_TOML_PLACE = re.compile(r" \(at (?:line (\d+), column \d+|end of document)\)$")


def settings_file(folder: Path) -> Path | None:
    """The one in `folder`, if there is one. `TaskError` when there are two."""
    present = [folder / name for name in FILES if (folder / name).exists()]
    if len(present) > 1:
        raise TaskError(
            f"there are also settings in {present[1].name}", file=present[0], mend="keep one of the two files"
        )
    return present[0] if present else None


def keys_in(file: Path) -> dict[Any, Any]:
    """What the file sets, not validated. `TaskError` when it cannot be read or holds no keys."""
    content = _parsed(file)
    if not isinstance(content, dict):
        raise TaskError(
            "holds no keys", file=file, mend="write one `key: value` a line, such as `budget: 24`"
        )
    return content


def _parsed(file: Path) -> Any:
    text = readable_text(file)
    if file.suffix != ".toml":
        return parse_yaml(text, file) or {}
    try:
        return tomllib.loads(text)
    except RecursionError:
        raise TaskError("nests too deeply to be read", file=file, mend="write one key a line") from None
    except ValueError as error:  # TOMLDecodeError is one, and so is a number of thousands of digits
        said = str(error)
    place = _TOML_PLACE.search(said)
    field = None if place is None else f"line {place[1]}" if place[1] else "last line"
    problem = in_a_sentence(said[: place.start()] if place else said)
    mend = 'write `key = value`, with texts in quotes, such as `device = "cpu"`'
    raise TaskError(f"is not valid TOML: {problem}", file=file, field=field, mend=mend)
