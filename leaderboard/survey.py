"""Where a point is cheapest to win: every problem of the board against one's own best there.

What a place costs is counted in halvings of the distance to the speed of light. The score is 1 / (1 + x) with
x = (T - T_SOL) / (T_b - T_SOL), so the step from one score to another is the logarithm of two values of x. Nobody
starts from nothing: a right solution that is as fast as the baseline has 0.5. A point that others have reached
can be reached; what lies beyond the first place is headroom, and nobody has shown how much of it is real.
"""

import math
from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Literal

from leaderboard.public_board import Placed, Ranking
from tasks.value import Value

BASELINE = 0.5
FIFTH = 5
NEAREST = 1e-6
"""Distances below it are none: a score of 1 and more is at the speed of light."""
By = Literal["worth", "fifth", "first", "headroom", "stale"]


class Chance(Value):
    """One problem as a chance to gain."""

    kernel: str
    name: str
    own: float
    """One's own best score; 0 without any."""
    first: float | None
    fifth: float | None
    """The last place's where fewer than five are taken; None where nobody has a result."""
    places: int
    to_fifth: float
    to_first: float
    headroom: float
    """From one's own best to the speed of light."""
    halvings: float
    """Of the distance to the speed of light, for the place that is aimed at."""
    aim: Literal["first", "fifth", "baseline", "none"]
    worth: float
    """Gain of that place: up to the baseline whole, beyond it over one plus the halvings, since a submission costs
    something by itself."""
    stale_days: int | None
    """Since the first place was taken; None when the board does not say."""
    stack: str = ""


def survey(
    rankings: Iterable[Ranking], own: Mapping[str, float], now: datetime, me: str = "", by: By = "worth"
) -> tuple[Chance, ...]:
    """Every problem, the best chance first. `own` are one's own scores by a problem's name or its last part;
    results by `me` on the board count as one's own, too, and not as a bar to reach."""
    chances = [_chance(ranking, own, now, me) for ranking in rankings]
    return tuple(sorted(chances, key=lambda chance: _order(chance, by)))


def halvings(start: float, goal: float) -> float:
    """How often the distance to the speed of light is halved between two scores; 0 for a goal that is no higher."""
    if goal <= start:
        return 0.0
    distances = [max(1 / score - 1, NEAREST) for score in (start, goal)]
    return math.log2(distances[0] / distances[1])


def _chance(ranking: Ranking, own: Mapping[str, float], now: datetime, me: str) -> Chance:
    others = [p for p in ranking.placed if not (me and p.who == me)]
    mine = max([_known(ranking, own), *(p.score for p in ranking.placed if me and p.who == me)])
    first = others[0].score if others else None
    fifth = others[min(FIFTH, len(others)) - 1].score if others else None
    aim, goal = _aim(mine, first, fifth)
    start = max(mine, BASELINE)
    steps = halvings(start, goal)
    return Chance(
        kernel=ranking.kernel,
        name=ranking.name,
        own=mine,
        first=first,
        fifth=fifth,
        places=len(others),
        to_fifth=max(0.0, (fifth or 0.0) - mine),
        to_first=max(0.0, (first or 0.0) - mine),
        headroom=max(0.0, 1.0 - mine),
        halvings=steps,
        aim=aim,
        worth=_worth(mine, goal),
        stale_days=_stale(others, now),
        stack=ranking.stack,
    )


def _known(ranking: Ranking, own: Mapping[str, float]) -> float:
    names = (ranking.name, ranking.name.rsplit("/", 1)[-1], ranking.kernel)
    return max((own[name] for name in names if name in own), default=0.0)


def _aim(
    mine: float, first: float | None, fifth: float | None
) -> tuple[Literal["first", "fifth", "baseline", "none"], float]:
    """The place that is worth most; the baseline where no place lies above one's own best."""
    places: list[tuple[Literal["first", "fifth", "baseline"], float]] = [("baseline", BASELINE)]
    places += [("fifth", fifth)] if fifth is not None else []
    places += [("first", first)] if first is not None else []
    above = [(name, goal) for name, goal in places if goal > mine + NEAREST]
    return max(above, key=lambda place: _worth(mine, place[1]), default=("none", mine))


def _worth(mine: float, goal: float) -> float:
    """Up to the baseline a point costs the submission alone, beyond it the halvings as well."""
    start = max(mine, BASELINE)
    return max(0.0, min(goal, BASELINE) - mine) + max(0.0, goal - start) / (1.0 + halvings(start, goal))


def _stale(others: list[Placed], now: datetime) -> int | None:
    """A first place that nobody took for long may be a hard one, or one that nobody looks at."""
    taken = others[0].at if others else None
    return None if taken is None else max(0, (now - taken).days)


def _order(chance: Chance, by: By) -> tuple[float, float, str]:
    keys = {
        "worth": chance.worth,
        "fifth": chance.to_fifth,
        "first": chance.to_first,
        "headroom": chance.headroom,
        "stale": float(chance.stale_days or 0),
    }
    return (-keys[by], -chance.headroom, chance.name)
