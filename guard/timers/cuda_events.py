"""CUDA events around each call: what the first version of the board used; launch costs are inside."""

from guard.timers.base import BadRecords, Records, Step, Timer


class CudaEvents(Timer):
    name = "cuda-events"

    @staticmethod
    def is_available(device: str) -> bool:
        return device == "cuda"

    @staticmethod
    def record(prepare: Step, call: Step, warmup: int, timed: int) -> Records:
        import torch

        begins = [torch.cuda.Event(enable_timing=True) for _ in range(timed)]
        ends = [torch.cuda.Event(enable_timing=True) for _ in range(timed)]
        for index in range(warmup):
            prepare(index)
            call(index)
        torch.cuda.synchronize()
        for index in range(timed):
            prepare(warmup + index)
            begins[index].record()
            call(warmup + index)
            ends[index].record()
        torch.cuda.synchronize()
        return {"spans_ms": [begin.elapsed_time(end) for begin, end in zip(begins, ends, strict=True)]}

    @staticmethod
    def times_ms(records: Records) -> list[float]:
        spans = records.get("spans_ms")
        if not isinstance(spans, list) or not all(isinstance(s, float) and s > 0 for s in spans):
            raise BadRecords("the CUDA events gave no times")
        return spans
