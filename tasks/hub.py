"""The Hugging Face hub, as far as downloading a pinned data set needs it."""

import errno
from pathlib import Path
from typing import Any, Protocol

from tasks.errors import TaskError
from tasks.value import Value


class HubFile(Value):
    path: str
    size: int | None = None
    """Bytes."""
    sha256: str | None = None
    """Known for files in large-file storage only."""


class Snapshot(Value):
    """One commit of one repository."""

    repository: str
    revision: str
    """The commit, whatever name it was asked by."""
    files: tuple[HubFile, ...]


class Hub(Protocol):
    def snapshot(self, repository: str, revision: str) -> Snapshot:
        """The commit that `revision` (a branch, a tag or a commit) names, with its files."""
        ...

    def fetch(self, repository: str, revision: str, path: str, folder: Path) -> Path:
        """Bring one file to `folder / path`; what an interrupted call left there is taken up again."""
        ...


class HuggingFaceHub:
    """The hub itself, through `huggingface_hub`, which keeps partial files and takes them up again."""

    def snapshot(self, repository: str, revision: str) -> Snapshot:
        huggingface_hub, faults = _library()
        try:
            found = huggingface_hub.HfApi().dataset_info(repository, revision=revision, files_metadata=True)
        except faults as error:
            raise _unreachable(error, repository) from error
        files = tuple(
            HubFile(path=f.rfilename, size=f.size, sha256=f.lfs.sha256 if f.lfs else None)
            for f in found.siblings or ()
        )
        return Snapshot(repository=repository, revision=str(found.sha), files=files)

    def fetch(self, repository: str, revision: str, path: str, folder: Path) -> Path:
        huggingface_hub, faults = _library()
        try:
            where = huggingface_hub.hf_hub_download(
                repository, path, repo_type="dataset", revision=revision, local_dir=folder
            )
        except faults as error:
            raise _unreachable(error, f"{repository}/{path}") from error
        return Path(where)


def _library() -> tuple[Any, tuple[type[Exception], ...]]:
    """The library, and what it raises: its own faults are `OSError` or `ValueError`, HTTP's are not."""
    try:
        import huggingface_hub
        from huggingface_hub.errors import HTTPError
    except ImportError as error:
        raise TaskError(
            "downloading needs huggingface_hub",
            mend="install the extra: make setup EXTRAS=dev,gpu,flashinfer,data",
        ) from error
    return huggingface_hub, (OSError, ValueError, HTTPError)


def _unreachable(error: Exception, what: str) -> Exception:
    """The sentence for the user; a full disk stays what it is, since it is no fault of the data."""
    if isinstance(error, OSError) and error.errno == errno.ENOSPC:
        return error
    first_line = next(iter(str(error).strip().splitlines()), type(error).__name__)
    return TaskError(
        f"cannot be fetched: {first_line}",
        file=what,
        mend="check the network and the revision and run it again: what is there is kept",
    )
