"""The host's monotonic clock: for CPUs, and for what a host sees of a device."""

import time

from guard.timers.base import BadRecords, Records, Step, Timer


class Wall(Timer):
    name = "wall"

    @staticmethod
    def is_available(device: str) -> bool:
        return True

    @staticmethod
    def record(prepare: Step, call: Step, warmup: int, timed: int) -> Records:
        clock, spans = time.perf_counter_ns, []
        for index in range(warmup + timed):
            prepare(index)
            began = clock()
            call(index)
            spans.append(clock() - began)
        return {"spans_ns": spans[warmup:]}

    @staticmethod
    def times_ms(records: Records) -> list[float]:
        spans = records.get("spans_ns")
        if not isinstance(spans, list) or not all(isinstance(s, int) and s > 0 for s in spans):
            raise BadRecords("the wall clock gave no times")
        return [span / 1e6 for span in spans]
