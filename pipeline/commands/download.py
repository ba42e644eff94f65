"""`kernelarc data`: the official data set, fetched or checked."""

from pathlib import Path
from typing import Any

import click

from pipeline.commands.options import emit, options

_ROOT = Path("data")


@click.group()
def data() -> None:
    """Fetch the official data set (its licence forbids to ship it), or check a copy of it.

    \b
    Examples:
      kernelarc data download --subsets L1,FlashInfer-Bench
      kernelarc data check data
    """


@data.command()
@click.argument("root", type=click.Path(path_type=Path), default=_ROOT)
@options(
    click.option("--subsets", metavar="A,B", help="Of L1, L2, Quant, FlashInfer-Bench. [default: all]"),
    click.option("--blobs/--no-blobs", default=True, help="The recorded inputs too. [default: yes]"),
    click.option("--revision", metavar="COMMIT", help="Of the data set. [default: the recorded one]"),
    click.option("--blob-revision", metavar="COMMIT", help="Of the recorded inputs. [default: likewise]"),
)
def download(root: Path, subsets: str | None, as_json: bool, **chosen: Any) -> None:
    """Fetch the data set into ROOT (default: data), pinned to a commit; run it again after an interruption.

    \b
    Examples:
      kernelarc data download
      kernelarc data download ~/sol --subsets L2 --no-blobs --revision 0123abc
    """
    from pipeline.progress import Lines
    from tasks.download import SUBSETS, download

    wanted = _subsets(subsets, SUBSETS)
    record = download(root, subsets=wanted, progress=Lines().note, **chosen)
    size = sum(file.size for file in record.files) / 2**20
    emit(as_json, record.model_dump(mode="json"), f"{len(record.files)} files, {size:.0f} MiB in {root}")


@data.command()
@click.argument("root", type=click.Path(path_type=Path), default=_ROOT)
@options()
def check(root: Path, as_json: bool) -> int:
    """Compare every file under ROOT with the record of its download; exit 1 when one differs.

    \b
    Examples:
      kernelarc data check data --json
    """
    from tasks.download import check_data

    findings = check_data(root)
    text = "\n".join(map(str, findings)) if findings else f"{root} is as it was downloaded"
    emit(as_json, [finding.model_dump(mode="json") for finding in findings], text)
    return 1 if any(finding.level == "error" for finding in findings) else 0


def _subsets(text: str | None, known: Any) -> tuple[Any, ...]:
    from tasks.errors import TaskError
    from tasks.sources.base import SUBSET_FOLDERS

    if text is None:
        return tuple(known)
    names = [name.strip() for name in text.split(",") if name.strip()]
    for name in names:
        if name not in SUBSET_FOLDERS:
            mend = f"the subsets are {', '.join(known)}"
            raise TaskError(f"there is no subset {name!r}", field="--subsets", mend=mend)
    return tuple(dict.fromkeys(SUBSET_FOLDERS[name] for name in names))
