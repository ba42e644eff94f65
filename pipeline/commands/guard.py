"""`kernelarc guard ...`: what the guard can say of itself, and of figures it published before."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from pipeline.commands.options import device_option, emit, options, settings_from

if TYPE_CHECKING:
    from submissions.discrepancy import Discrepancy


@click.group()
def guard() -> None:
    """Derive published figures again, pool measurements, and test the guard on this machine.

    \b
    Examples:
      kernelarc guard rederive old-new.jsonl
      kernelarc guard merge monday.jsonl tuesday.jsonl
      kernelarc guard selftest --max-seconds 900
    """


@guard.command()
@options(click.argument("result", type=click.Path(exists=True, path_type=Path)))
def rederive(result: Path, as_json: bool) -> int:
    """Compute every published figure in RESULT again from its raw times; needs no GPU.

    RESULT is a file that `compare --out` wrote, or the folder of a submission. Exits with 1 when a figure
    does not hold, or when there is none.

    \b
    Examples:
      kernelarc guard rederive old-new.jsonl
      kernelarc guard rederive submissions/ready/L2/l2_decoder/0123456789ab
    """
    if result.is_dir():
        return _rederive_folder(result, as_json)
    from guard.rederive import rederive as derive

    found = derive(result)
    content = {
        "statements": found.statements,
        "figures": found.figures,
        "unfounded": [u._asdict() for u in found.unfounded],
    }
    said = f"{found.statements} statements, {found.figures} figures, {len(found.unfounded)} do not hold"
    emit(as_json, content, "\n".join([*(str(u) for u in found.unfounded), said]))
    return 1 if found.unfounded or not found.statements else 0


def _rederive_folder(folder: Path, as_json: bool) -> int:
    """All that follows from the samples of a submission, latencies included, is what `verify` computes again."""
    from submissions.verify import verify

    found: tuple[Discrepancy, ...] = verify(folder)
    lines = [f"{d.file}: {d.field}: {d.problem}" for d in found]
    content = {"unfounded": [d.model_dump(mode="json") for d in found]}
    emit(as_json, content, "\n".join([*lines, f"{len(found)} figures or files do not hold"]))
    return 1 if found else 0


@guard.command()
@click.argument("files", nargs=-1, required=True, type=click.Path(exists=True, path_type=Path))
@options(click.option("--out", type=click.Path(path_type=Path), help="Write the pooled measurements there."))
def merge(files: tuple[Path, ...], out: Path | None, as_json: bool) -> int:
    """Pool FILES that `compare --out` wrote, and compare again; what may not be pooled is refused by name.

    Pooled are times of the same task, candidates, card, driver, libraries, clock policy, timer and protocol.
    """
    from guard.campaign import pool, write_pooled
    from guard.figures import publish

    shards = pool(files)
    published = publish(shards)
    if out is not None:
        write_pooled(out, shards, published)
    emit(as_json, published.model_dump(mode="json"), "\n".join(published.lines()))
    return 0 if published.is_good else 1


@guard.command()
@options(
    click.option(
        "--max-seconds", type=float, default=60.0, show_default=True, metavar="S",
        help="Start nothing that would end after that; what matters most runs first.",
    ),
    click.option("--comparisons", type=click.IntRange(1), default=20, show_default=True, help="A/A, at most."),
    click.option(
        "--out", type=click.Path(path_type=Path, dir_okay=False),
        help="Keep what was found there after every part; what it holds is not run again.",
    ),
    device_option,
)  # fmt: skip
def selftest(max_seconds: float, comparisons: int, out: Path | None, as_json: bool, **given: Any) -> int:
    """Measure the guard itself here: the timer's floor, tick and slope, noise, and kernels against themselves.

    Exits with 1 when a kernel differs from itself more often than chance allows, the timer does not follow, or
    what was brought about on purpose was not found. Several cards share the work when each runs this, with its
    number in CUDA_VISIBLE_DEVICES, on one file.
    """
    from guard.selftest import selftest as test_guard
    from guard.selftest_store import Store
    from guard.session import Session
    from pipeline.device import choose_device
    from pipeline.progress import Lines

    device = choose_device(settings_from(given).device)
    store = Store(out)
    with Session(device) as session:
        found = test_guard(session, max_seconds, comparisons, progress=Lines().note, store=store)
    emit(as_json, found.model_dump(mode="json"), "\n".join(found.lines()))
    return 0 if found.is_good else 1
