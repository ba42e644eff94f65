"""The breaker: a proposer that only repeats itself is not asked again until others have found something new."""

TRIPS_AT = 3
"""Refused proposals in a row."""
MOST_TRIPS = 3
"""After so many the proposer is not asked again at all."""
REST = 4
"""New candidates of anybody before a proposer that tripped is asked again; twice as many every further time."""


class Breaker:
    """Of one proposer. Counts alone: the same history gives the same answer."""

    def __init__(self) -> None:
        self.in_a_row = 0
        self.trips = 0
        self._closed_again_at = 0

    def is_open(self, candidates: int) -> bool:
        """Whether its proposer must rest, when so many new candidates were judged in all."""
        return self.is_final or candidates < self._closed_again_at

    @property
    def is_final(self) -> bool:
        return self.trips >= MOST_TRIPS

    def refused(self, candidates: int) -> bool:
        """One more proposal came to nothing; True when this trips the breaker."""
        self.in_a_row += 1
        # one that was let in again on trial trips at its first repeat
        if self.in_a_row < TRIPS_AT and not (self.trips and self.in_a_row == 1):
            return False
        self.trips += 1
        self.in_a_row = 0
        self._closed_again_at = candidates + REST * 2 ** (self.trips - 1)
        return True

    def new(self) -> None:
        """Its proposal was one that nobody had made."""
        self.in_a_row = 0
        self.trips = 0
