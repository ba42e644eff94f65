"""What the sources say of themselves: modules, and what is public in each, in the order in which it stands there."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

PACKAGES = ("tasks", "guard", "submissions", "agents", "leaderboard", "pipeline", "scripts")
ROOT = Path(__file__).parents[2]
_PROBLEMS = {"L1", "L2", "Quantization", "FlashInfer"}
"""Folders of shipped problems, whose code their definitions quote."""


@dataclass(frozen=True)
class Member:
    """A class, a function, an attribute, or the field of a class."""

    name: str
    path: str
    """Dotted, from the package on; the anchor on its page."""
    kind: str
    signature: str
    said: str
    members: tuple["Member", ...] = ()


@dataclass(frozen=True)
class Module:
    path: str
    said: str
    members: tuple[Member, ...]


@dataclass(frozen=True)
class Package:
    name: str
    modules: tuple[Module, ...] = field(default=())

    @property
    def said(self) -> str:
        return self.modules[0].said


def read_package(name: str, root: Path = ROOT) -> Package:
    """Parsed, not imported. What begins with an underscore is left out, and so are functions and constants without a
    docstring; classes and their fields speak for themselves."""
    import griffe

    loaded: Any = griffe.load(name, search_paths=[root], allow_inspection=False)
    return Package(name, tuple(_modules(loaded)))


def _modules(module: Any) -> Iterator[Module]:
    said = module.docstring.value if module.docstring else ""
    yield Module(module.path, said, tuple(_members(module)))
    for name in sorted(module.modules):
        if not name.startswith("_") and name not in _PROBLEMS:
            yield from _modules(module.modules[name])


def _members(owner: Any) -> Iterator[Member]:
    for name, found in owner.members.items():
        if name.startswith("_") or found.is_alias or found.is_module:
            continue
        said = found.docstring.value if found.docstring else ""
        if said or found.is_class or (owner.is_class and found.is_attribute):
            inner = tuple(_members(found)) if found.is_class else ()
            kind = "function" if "property" in found.labels else str(found.kind.value)
            yield Member(name, found.path, kind, _signature(found), said, inner)


def _signature(found: Any) -> str:
    """As it stands in the source, on one line."""
    if found.is_class:
        return f"class {found.name}({', '.join(str(base) for base in found.bases)})".replace("()", "")
    if found.is_function:
        return str(found.signature())
    annotation = f": {found.annotation}" if found.annotation is not None else ""
    value = f" = {found.value}" if found.value is not None and len(str(found.value)) < 80 else ""
    return f"{found.name}{annotation}{value}"
