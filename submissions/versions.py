"""Which versions are installed here, without importing what is asked about."""

import platform
import tomllib
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path


def installed() -> dict[str, str]:
    """Of kernelarc, Python, torch and triton; what is not installed is left out."""
    found = {"kernelarc": _own(), "python": platform.python_version()}
    for name in ("torch", "triton"):
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            continue
    return found


def _own() -> str:
    """From pyproject.toml: on an offline machine the project runs from its folder and is never installed."""
    project = tomllib.loads((Path(__file__).parents[1] / "pyproject.toml").read_text(encoding="utf-8"))
    return str(project["project"]["version"])
