"""The figures of docs/concepts/statistics.md: `python -m tests.simulations.report` prints them again."""

import sys

from guard.comparison import GATE, Outcome
from guard.statistics.decision import OUTCOMES
from tests.simulations.scenes import SCENES, Scene, play, problems_with, share, upper_bound


def row(scene: Scene) -> str:
    trials = 1_000 if scene.times else 4_000
    same, two, five = (play(scene, trials if slow == 0 else 1_000, GATE, slow) for slow in (0.0, 0.02, 0.05))
    false = problems_with(same, Outcome.SLOWER)
    shares = [
        100 * (same.outcome == OUTCOMES.index(o)).mean() for o in (Outcome.EQUIVALENT, Outcome.UNSTABLE)
    ]
    found = [100 * share(decisions, Outcome.SLOWER) for decisions in (two, five)]
    return (
        f"| {scene.name} | {100 * false / trials:.2f} (at most {100 * upper_bound(false, trials):.2f}) "
        f"| {found[0]:.1f} | {found[1]:.1f} | {100 * share(five, Outcome.EQUIVALENT):.1f} "
        f"| {shares[0]:.1f} | {shares[1]:.1f} | {same.stopped_at.mean():.1f} |"
    )


def main() -> None:
    write = sys.stdout.write
    write("| scene | any false SLOWER, % | +2 % found, % | +5 % found, % | +5 % EQUIVALENT, % ")
    write("| unchanged EQUIVALENT, % | unchanged UNSTABLE, % | mean P |\n|---|---|---|---|---|---|---|---|\n")
    for scene in SCENES:
        write(row(scene) + "\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
