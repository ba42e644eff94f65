import gzip
import io
import subprocess
from pathlib import Path

import pytest

from submissions.samples import Samples, pack, unpack
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


def test_a_small_file_that_unpacks_to_very_much_is_refused() -> None:
    buffer = io.BytesIO()
    with gzip.GzipFile(filename="", fileobj=buffer, mode="wb", compresslevel=9, mtime=0) as file:
        for _ in range(65):
            file.write(b"\n" * (1 << 20))
    with pytest.raises(ValueError, match="take more than"):
        unpack(buffer.getvalue())
