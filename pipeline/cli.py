"""The command line's table of contents; each command says in its file what it does."""

import click

from pipeline.commands import (
    ablate,
    audit,
    board,
    compare,
    conclusions,
    desk_portal,
    doctor,
    download,
    evaluate,
    guard,
    query,
    regress,
    replay,
    reproduce,
    score,
    search,
    sentinels,
    snapshot,
    sol,
    submit,
    survey,
    tasks,
    worker,
)
from pipeline.failure import Program


@click.group(cls=Program, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.version_option(package_name="kernelarc", message="%(prog)s %(version)s")
def main() -> None:
    """From a GPU-kernel problem to a leaderboard-ready submission.

    \b
    Exit codes: 0 good, 1 judged and not good (or not holding), 2 bad input,
    3 the guard or the machine broke (nobody's candidate is to blame), 130 stopped by you.
    """


main.add_command(tasks.tasks)
main.add_command(tasks.show)
main.add_command(tasks.lint)
main.add_command(evaluate.evaluate)
main.add_command(compare.compare)
main.add_command(guard.guard)
main.add_command(audit.audit)
main.add_command(search.search)
main.add_command(search.resume)
main.add_command(replay.replay)
main.add_command(conclusions.conclusions)
main.add_command(ablate.ablate)
main.add_command(submit.submit)
main.add_command(submit.verify)
main.add_command(score.score)
main.add_command(sol.sol)
main.add_command(snapshot.snapshot)
main.add_command(sentinels.sentinels)
main.add_command(reproduce.reproduce)
main.add_command(regress.regress)
main.add_command(desk_portal.desk)
main.add_command(survey.survey)
main.add_command(worker.worker)
main.add_command(board.board)
main.add_command(query.ingest)
main.add_command(query.query)
main.add_command(doctor.doctor)
main.add_command(download.data)
