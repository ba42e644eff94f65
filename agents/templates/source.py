"""Source text from a template."""

from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from jinja2 import Template


def rendered(path: Path, /, **values: Any) -> str:
    """The template at `path`, which may include others of the families' folders; a name it lacks is an error."""
    return _template(path).render(**values)


@cache
def _template(path: Path) -> "Template":
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    environment = Environment(
        loader=FileSystemLoader(path.parent.parent), trim_blocks=True, lstrip_blocks=True,
        keep_trailing_newline=True, undefined=StrictUndefined, autoescape=False,
    )  # fmt: skip
    return environment.get_template(f"{path.parent.name}/{path.name}")
