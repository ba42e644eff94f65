"""What is not as it was: of two environments and protocols, each difference by name, and whether it bars."""

from collections.abc import Iterator
from typing import Literal

from guard.protocol import Protocol
from guard.verdict import Environment
from tasks.value import Value

Excusable = Literal["driver", "clocks", "libraries"]
"""What a caller may say is allowed to differ, because it is what he asks about."""

NEVER_MATTERS = ("numpy", "python")
"""Installed beside what is timed; no device activity depends on them."""
TIMING_FIELDS = ("warmup_calls", "timed_calls", "measured_calls", "timer", "precision")
POWER_CAP = "sw-power-cap"
CLOCK_SHARE = 0.01
"""Clocks under load further apart than this share are different clocks (measured without a lock)."""


class Difference(Value):
    what: str
    """Such as `driver`, `library torch`, `clock sm`, `timer`."""
    then: str
    now: str
    bars: bool
    """Times are not compared across it."""

    def __str__(self) -> str:
        return f"{self.what}: {self.then} then, {self.now} now{'' if self.bars else ' (noted)'}"


def environment_differences(
    then: Environment, now: Environment, excused: frozenset[Excusable] = frozenset()
) -> Iterator[Difference]:
    """Everything that differs; the card's own number only by name, as other cards of a kind have their rule."""
    for what in ("kind", "device"):
        yield from _difference(what, getattr(then, what), getattr(now, what), bars=True)
    yield from _difference("card", then.uuid, now.uuid, bars=False)
    yield from _difference("driver", then.driver, now.driver, bars="driver" not in excused)
    yield from _difference("isolation", then.isolation, now.isolation, bars=False)
    yield from _libraries(then, now, "libraries" not in excused)
    yield from _clocks(then, now, "clocks" not in excused)
    yield from _disturbances(then, now)


def protocol_differences(then: Protocol, now: Protocol) -> Iterator[Difference]:
    """Limits, names and rounds are noted; what the timed loop does bars."""
    for field in Protocol.model_fields:
        bars = field in TIMING_FIELDS
        yield from _difference(f"protocol {field}", getattr(then, field), getattr(now, field), bars=bars)


def _difference(what: str, then: object, now: object, *, bars: bool) -> Iterator[Difference]:
    if then != now:
        yield Difference(what=what, then=_said(then), now=_said(now), bars=bars)


def _said(value: object) -> str:
    return "none" if value is None else str(value)


def _libraries(then: Environment, now: Environment, bars: bool) -> Iterator[Difference]:
    for name in sorted({*then.libraries, *now.libraries}):
        matters = bars and name not in NEVER_MATTERS
        yield from _difference(
            f"library {name}", then.libraries.get(name), now.libraries.get(name), bars=matters
        )


def _clocks(then: Environment, now: Environment, bars: bool) -> Iterator[Difference]:
    """Under load alone: before and after it a GPU may idle at any clock."""
    for part in ("sm", "memory"):
        before, after = (e.clocks.get(f"{part}_during_mhz") for e in (then, now))
        if before is None or after is None:
            yield from _difference(f"clock {part}", _known(before), _known(after), bars=False)
        elif abs(after / before - 1) > CLOCK_SHARE:
            yield Difference(
                what=f"clock {part}", then=f"{before:.0f} MHz", now=f"{after:.0f} MHz", bars=bars
            )


def _known(clock_mhz: float | None) -> str:
    return "not measured" if clock_mhz is None else "measured"


def _disturbances(then: Environment, now: Environment) -> Iterator[Difference]:
    """What spoils times by itself, even when it was so both times."""
    for name, values in (
        ("throttling", [sorted({*e.throttle_reasons} - {POWER_CAP}) for e in (then, now)]),
        ("other processes on the GPU", [[str(e.other_processes)] * bool(e.other_processes) for e in (then, now)]),
    ):  # fmt: skip
        if any(values):
            before, after = (", ".join(value) or "none" for value in values)
            yield Difference(what=name, then=before, now=after, bars=True)
