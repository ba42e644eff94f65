"""Writing a text whole, with the folders above it."""

from pathlib import Path

from tasks import whole_file


def write_whole(path: Path, text: str) -> None:
    """A reader sees all of it or none; the folders above it are made."""
    path.parent.mkdir(parents=True, exist_ok=True)
    whole_file.write_whole(path, text.encode())
