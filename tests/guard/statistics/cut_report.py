"""What the warm-up cut does to the location of fifty calls: `python -m tests.guard.statistics.cut_report`."""

from collections.abc import Callable

import numpy as np

from guard.statistics.location import log_location
from guard.statistics.steady import steady_part

CALLS, TRACES = 50, 1_000
Shape = Callable[[np.ndarray], np.ndarray]  # type: ignore[type-arg]
SHAPES: dict[str, Shape] = {
    "settled": lambda n: np.ones_like(n),
    "step of +30 % up to call 20": lambda n: np.where(n < 20, 1.3, 1.0),
    "ramp of +20 %, tau 10": lambda n: 1 + 0.2 * np.exp(-n / 10),
    "ramp of +20 %, tau 30": lambda n: 1 + 0.2 * np.exp(-n / 30),
    "drift of -3 %": lambda n: 1 - 0.03 * n / CALLS,
}


def main() -> None:
    """Percent of the settled time: mean and standard deviation of the location, without and with the cut."""
    rng = np.random.default_rng(0)
    for name, shape in SHAPES.items():
        centre = shape(np.arange(CALLS, dtype=np.float64))
        traces = [centre * (1 + 0.003 * rng.normal(size=CALLS)) for _ in range(TRACES)]
        parts = [steady_part(trace) for trace in traces]
        whole = 100 * np.array([float(log_location(trace)) for trace in traces])
        cut = 100 * np.array([float(log_location(part.times)) for part in parts])
        restless = np.mean([not part.steady for part in parts])
        print(  # noqa: T201
            f"{name}: {whole.mean():+.2f} (sd {whole.std():.3f}) without, {cut.mean():+.2f} (sd {cut.std():.3f}) with, "
            f"{np.mean([part.dropped for part in parts]):.1f} dropped, {restless:.1%} not steady"
        )


if __name__ == "__main__":
    main()
