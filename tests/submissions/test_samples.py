import gzip
import statistics
import subprocess
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from guard.verdict import Measurement
from submissions.samples import Samples, official_median_ms, pack, unpack
from tests.submissions.builders import a_task, measurements

SAMPLES = Samples(measurements(a_task(), "cupti"), measurements(a_task(), "cupti", processes=1))


def test_both_arms_come_back_as_they_were() -> None:
    assert unpack(pack(SAMPLES)) == SAMPLES
    assert unpack(pack(Samples(()))) == Samples(())


def test_any_gzip_reads_it_and_it_holds_no_time(tmp_path: Path) -> None:
    (tmp_path / "samples.jsonl.gz").write_bytes(pack(SAMPLES))
    read = subprocess.run(["gzip", "-dc", tmp_path / "samples.jsonl.gz"], capture_output=True, check=True)
    assert read.stdout == SAMPLES.text == gzip.decompress(pack(SAMPLES))
    assert pack(SAMPLES)[4:8] == bytes(4)


@pytest.mark.parametrize(
    ("spoilt", "sentence"),
    [
        (pack(SAMPLES) + pack(SAMPLES), "something follows"),
        (pack(SAMPLES) + b"\0", "something follows"),
        (pack(SAMPLES)[:-1], "cut short"),
        (b"", "header"),
        (gzip.compress(SAMPLES.text, mtime=1), "header"),
        (pack(SAMPLES)[:-8] + bytes(8), "damaged"),
    ],
)
def test_what_is_not_one_whole_plain_gzip_file_is_refused(spoilt: bytes, sentence: str) -> None:
    with pytest.raises(ValueError, match=sentence):
        unpack(spoilt)


@pytest.mark.parametrize(
    "line", [b"{}", b"[]", b"null", b'{"arm": "other"}', b'{"arm": "candidate", "process": 1}', b"{" * 10_000]
)
def test_a_line_that_is_no_measurement_is_named_by_its_number(line: bytes) -> None:
    with pytest.raises(ValueError, match="line 2 is not a measurement"):
        unpack(packed(SAMPLES.text.splitlines(keepends=True)[0] + line + b"\n"))


@pytest.mark.parametrize(
    "text", [SAMPLES.text.replace(b",", b", ", 1), SAMPLES.text + b"\n", SAMPLES.text[:-1]]
)
def test_another_spelling_of_the_same_samples_is_refused(text: bytes) -> None:
    with pytest.raises(ValueError, match=r"written again|not a measurement"):
        unpack(packed(text))


def packed(text: bytes) -> bytes:
    """A gzip file of any text, with the plain header."""

    class Other(Samples):
        @property
        def text(self) -> bytes:
            return text

    return pack(Other(()))


@given(st.lists(st.lists(st.floats(0, 1e6), min_size=1, max_size=5), min_size=1, max_size=5))
def test_the_median_is_over_all_official_times_of_one_workload_alone(times: list[list[float]]) -> None:
    own = [
        Measurement(workload="w", process=p, timer="cupti", kind="official", times_ms=tuple(some))
        for p, some in enumerate(times)
    ]
    others = [
        own[0].model_copy(update={"kind": "measured", "times_ms": (0.0,) * 99}),
        own[0].model_copy(update={"workload": "v", "times_ms": (0.0,) * 99}),
    ]
    assert official_median_ms([*others, *own], "w") == statistics.median(t for some in times for t in some)
    assert official_median_ms(others, "w") is None
