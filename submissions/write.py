"""Writing a submission: the whole folder or nothing, and never twice."""

import errno
import os
import secrets
import shutil
from pathlib import Path

from guard.errors import GuardBroken
from submissions.files import files
from submissions.submission import Submission
from submissions.verify import verify
from tasks.errors import TaskError

ROOT = Path("submissions")
_ASKED_WRONGLY = {
    errno.ENOENT, errno.EACCES, errno.EPERM, errno.EROFS, errno.ENOTDIR, errno.EEXIST, errno.ENAMETOOLONG, errno.ELOOP,
}  # fmt: skip
"""What the chosen place is at fault for; every other error (a full disk, a failing one) is the machine's."""


def write(submission: Submission, root: Path = ROOT) -> Path:
    """The folder `root/<readiness>/<subset>/<task>/<digest12>`, made unless it is there and verifies.

    `GuardBroken` when the disk is full or fails: then nothing is left. `TaskError` when the place cannot
    be written to, or when another folder of that name does not verify.
    """
    folder = root / submission.folder
    content = files(submission)
    try:
        if not folder.exists():
            _write_whole(folder, content)
    except OSError as error:
        if error.errno in _ASKED_WRONGLY:
            raise _badly_chosen(folder, error.strerror) from error
        raise GuardBroken(f"{folder} could not be written: {error.strerror}; nothing was left") from error
    for discrepancy in verify(folder):
        raise TaskError(
            f"is there already and does not verify ({discrepancy})",
            file=folder,
            mend="remove the folder to have it written again",
        )
    return folder


def expect_writable(root: Path, option: str = "--out") -> None:
    """`TaskError` when no folder can be made in `root`: better said before a search than after it. Leaves nothing."""
    probe = root / f".{os.getpid()}-{secrets.token_hex(4)}"
    try:
        _remove_empty(_make_parents(probe))
    except OSError as error:
        if error.errno in _ASKED_WRONGLY:
            raise _badly_chosen(root, error.strerror, option) from error
        raise GuardBroken(f"{root} could not be written: {error.strerror}") from error


def _badly_chosen(folder: Path, why: str | None, option: str = "--out") -> TaskError:
    problem, mend = f"cannot be written to: {(why or '').lower()}", f"choose another folder with {option}"
    return TaskError(problem, file=folder, field=option, mend=mend)


def _write_whole(folder: Path, content: dict[str, bytes]) -> None:
    made = _make_parents(folder.parent)
    # a sibling, so that the rename stays within one file system
    partial = folder.parent / f".{folder.name}-{os.getpid()}-{secrets.token_hex(4)}"
    try:
        partial.mkdir()
        for name, text in content.items():
            _write_file(partial / name, text)
        _sync_folder(partial)
        if _rename(partial, folder):
            partial = folder
        _sync_folder(folder.parent)
    except BaseException:
        shutil.rmtree(partial, ignore_errors=True)
        _remove_empty(made)
        raise


def _rename(partial: Path, folder: Path) -> bool:
    """False when someone else wrote the same submission meanwhile; the caller verifies theirs."""
    try:
        partial.rename(folder)
    except OSError as error:
        if error.errno not in (errno.ENOTEMPTY, errno.EEXIST):
            raise
        shutil.rmtree(partial)
        return False
    return True


def _make_parents(folder: Path) -> list[Path]:
    """The folders that had to be made, outermost first."""
    made: list[Path] = []
    try:
        for parent in reversed([folder, *folder.parents]):
            if parent.is_dir():
                continue
            try:
                parent.mkdir()
            except FileExistsError:
                # made by someone else meanwhile; where it is a file, the next step says so
                continue
            made.append(parent)
    except BaseException:
        _remove_empty(made)
        raise
    return made


def _remove_empty(folders: list[Path]) -> None:
    for folder in reversed(folders):
        try:
            folder.rmdir()
        except OSError:
            return


def _write_file(path: Path, content: bytes) -> None:
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666)
    try:
        left = memoryview(content)
        while left:
            left = left[os.write(descriptor, left) :]
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _sync_folder(folder: Path) -> None:
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
