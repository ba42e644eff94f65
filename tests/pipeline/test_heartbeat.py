"""What is silent for long is said to be at work, with the seconds; what goes fast is not spoken of."""

import time

from pipeline.heartbeat import Heartbeat


def test_a_long_step_is_named_with_its_seconds() -> None:
    said: list[str] = []
    with Heartbeat(said.append, "judging", every_s=0.05) as alive:
        alive.note("official rounds: workload 1 of 2")
        time.sleep(0.2)
    assert 1 <= len(said) <= 4
    assert said[0] == "still at it: official rounds: workload 1 of 2, for 0 s"


def test_steps_that_follow_each_other_are_not_spoken_of() -> None:
    said: list[str] = []
    with Heartbeat(said.append, "judging", every_s=2.0) as alive:
        for number in range(10):
            alive.note(f"step {number}")
            time.sleep(0.01)
    assert said == []
