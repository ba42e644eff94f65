"""`kernelarc score`."""

from pathlib import Path
from typing import Any

import click

from pipeline.commands.options import data_option, emit, options, settings_from


@click.command()
@click.argument("named", nargs=-1, required=True, metavar="FOLDER|TASK...")
@options(
    click.option("--t-sol", type=click.Path(path_type=Path), help="Your own table of T_SOL; with --t-b."),
    click.option("--t-b", type=click.Path(path_type=Path), help="Your own table of T_b; with --t-sol."),
    click.option(
        "--problems", type=int, metavar="N", help="Problems of the benchmark. [default: those named]"
    ),
    click.option("--out", metavar="DIR", help="Where submissions are kept. [default: submissions]"),
    data_option,
)
def score(
    named: tuple[str, ...],
    t_sol: Path | None,
    t_b: Path | None,
    problems: int | None,
    as_json: bool,
    **given: Any,
) -> None:
    """Score submissions by the official formula, from the T_SOL and T_b published in the data set.

    FOLDER is a submission's folder; TASK stands for its best submission, and scores 0 without one. Every
    mean is printed with its denominator.

    \b
    Examples:
      kernelarc score submissions/ready/L2/002_decoder/0123456789ab
      kernelarc score L1/048_fused_gate_up_projection_with_swiglu L2/002_llama_decoder_layer --problems 235
      kernelarc score l1_rmsnorm --t-sol mine/t_sol.json --t-b mine/t_b.json --json
    """
    from pipeline.score import score as score_all
    from tasks.errors import TaskError

    if (t_sol is None) != (t_b is None):
        raise TaskError("comes with its other half", field="--t-sol", mend="give --t-sol and --t-b together")
    own = (t_sol, t_b) if t_sol is not None and t_b is not None else None
    found = score_all(settings_from(given), named, own, problems)
    lines = [line for scored in found.problems for line in scored.lines()]
    content = {
        "benchmark": {**found.benchmark.model_dump(mode="json"), "score": found.benchmark.score},
        "problems": [
            {**scored.model_dump(mode="json"), "score": scored.problem.score} for scored in found.problems
        ],
    }
    emit(as_json, content, "\n".join([*lines, str(found.benchmark)]))
