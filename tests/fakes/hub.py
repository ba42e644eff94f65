"""A hub in memory: repositories as dictionaries, with files that can be made to fail."""

import hashlib
from collections.abc import Mapping
from pathlib import Path

from tasks.errors import TaskError
from tasks.hub import HubFile, Snapshot


class FakeHub:
    """`repositories[name][revision]` maps paths to contents; `names` maps branches and tags to revisions."""

    def __init__(
        self, repositories: Mapping[str, Mapping[str, Mapping[str, bytes]]], names: Mapping[str, str]
    ) -> None:
        self.repositories, self.names = repositories, dict(names)
        self.fetched: list[str] = []
        self.fails_after: int | None = None
        """Fetches that succeed before the network is gone."""
        self.damages = ""
        """A path that arrives with other bytes."""

    def snapshot(self, repository: str, revision: str) -> Snapshot:
        commit = self.names.get(revision, revision)
        if commit not in self.repositories[repository]:
            raise TaskError("cannot be fetched: no such revision", file=repository, mend="check it")
        files = tuple(
            HubFile(path=path, size=len(content), sha256=hashlib.sha256(content).hexdigest())
            for path, content in self.repositories[repository][commit].items()
        )
        return Snapshot(repository=repository, revision=commit, files=files)

    def fetch(self, repository: str, revision: str, path: str, folder: Path) -> Path:
        if self.fails_after is not None and len(self.fetched) >= self.fails_after:
            raise TaskError("cannot be fetched: network is gone", file=path, mend="run it again")
        self.fetched.append(path)
        content = self.repositories[repository][revision][path]
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_bytes(b"?" + content if path == self.damages else content)
        return folder / path
