"""Docstrings as HTML: paragraphs, and names of the project in backticks as links to where they stand."""

import html
import re
from collections.abc import Iterable, Iterator

from scripts.api_reference.reading import Member, Package


class Links:
    """Knows every anchor, and which one a short name means, where it means only one."""

    def __init__(self, packages: Iterable[Package]) -> None:
        self._pages: dict[str, str] = {}
        self._short: dict[str, set[str]] = {}
        for package in packages:
            for path in _paths(package):
                self._pages[path] = f"{package.name}.html#{path}"
                self._short.setdefault(path.rsplit(".", 1)[-1], set()).add(path)

    def target(self, name: str, near: str) -> str | None:
        """The address of what `name` means in the module `near`: of its own names first, then of all."""
        name = name.removesuffix("()")
        for path in (f"{near}.{name}", name):
            if path in self._pages:
                return self._pages[path]
        meant = self._short.get(name, set())
        return self._pages[next(iter(meant))] if len(meant) == 1 else None

    def prose(self, text: str, near: str) -> str:
        """`text` in HTML, a `<p>` for each paragraph; indented ones stay as they are."""
        return "\n".join(self._paragraph(part, near) for part in re.split(r"\n\s*\n", text) if part.strip())

    def _paragraph(self, part: str, near: str) -> str:
        if part.startswith("    "):
            return f"<pre>{html.escape(part)}</pre>"
        pieces = re.split(r"`([^`\n]+)`", part.strip())
        marked = (
            self._code(piece, near) if place % 2 else html.escape(piece) for place, piece in enumerate(pieces)
        )
        return f"<p>{''.join(marked)}</p>"

    def _code(self, text: str, near: str) -> str:
        target = self.target(text, near)
        code = f"<code>{html.escape(text)}</code>"
        return code if target is None else f'<a href="{target}">{code}</a>'


def _paths(package: Package) -> Iterator[str]:
    for module in package.modules:
        yield module.path
        yield from _below(module.members)


def _below(members: Iterable[Member]) -> Iterator[str]:
    for member in members:
        yield member.path
        yield from _below(member.members)
