"""`kernelarc.toml` or `kernelarc.yaml` in a folder: its keys, or one sentence with file, line and mend."""

import re
import tomllib
from pathlib import Path
from typing import Any

import yaml

from tasks.errors import TaskError

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
    if not file.is_file():
        raise TaskError("cannot be read (it is no file)", file=file, mend="make it a readable text file")
    try:
        text = file.read_text(encoding="utf-8")
        return tomllib.loads(text) if file.suffix == ".toml" else yaml.safe_load(text) or {}
    except OSError as error:
        raise TaskError(
            f"cannot be read ({error.strerror})", file=file, mend="make it a readable text file"
        ) from None
    except UnicodeDecodeError as error:
        raise TaskError(f"is not UTF-8 at byte {error.start}", file=file, mend="save it as UTF-8") from None
    except RecursionError:
        raise TaskError("nests too deeply to be read", file=file, mend="write one key a line") from None
    except (
        yaml.YAMLError,
        ValueError,
    ) as error:  # also a number of thousands of digits, or a 31st of February
        raise (_not_toml(str(error), file) if file.suffix == ".toml" else _not_yaml(error, file)) from None


def _not_toml(said: str, file: Path) -> TaskError:
    place = _TOML_PLACE.search(said)
    field = None if place is None else f"line {place[1]}" if place[1] else "last line"
    problem = said[: place.start()] if place else said
    mend = 'write `key = value`, with texts in quotes, such as `device = "cpu"`'
    return TaskError(f"is not valid TOML: {_in_a_sentence(problem)}", file=file, field=field, mend=mend)


def _not_yaml(error: Exception, file: Path) -> TaskError:
    mark = getattr(error, "problem_mark", None)
    problem = getattr(error, "problem", None) or getattr(error, "reason", None) or str(error)
    return TaskError(
        f"is not valid YAML: {_in_a_sentence(problem)}",
        file=file,
        field=f"line {mark.line + 1}" if mark is not None else None,
        mend="write `key: value`, such as `device: cpu`",
    )


def _in_a_sentence(said: str) -> str:
    said = " ".join(said.split())
    return said[:1].lower() + said[1:]
