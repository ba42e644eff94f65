"""Raw times as they are shipped: one measurement a JSON line, in a gzip file without clock or name."""

import gzip
import hashlib
import io
import json
import zlib
from typing import Literal, NamedTuple

from guard.verdict import Measurement
from tasks.value import canonical_json

Arm = Literal["candidate", "reference"]
_HEADER = bytes.fromhex("1f8b08000000000002ff")
"""No flags, modification time 0, strongest compression, unknown system: the same on every machine."""
_LARGEST_BYTES = 64 << 20
"""Ten processes of sixteen workloads take a quarter of a MiB."""


class Samples(NamedTuple):
    """What was timed: the candidate, and the reference where it was timed beside it."""

    candidate: tuple[Measurement, ...]
    reference: tuple[Measurement, ...] = ()

    @property
    def text(self) -> bytes:
        """One line a measurement: the candidate's in the order taken, then the reference's."""
        arms: tuple[tuple[Arm, tuple[Measurement, ...]], ...] = (
            ("candidate", self.candidate),
            ("reference", self.reference),
        )
        lines = [
            canonical_json({"arm": arm, **measurement.model_dump(mode="json")}) + "\n"
            for arm, measurements in arms
            for measurement in measurements
        ]
        return "".join(lines).encode()

    @property
    def digest(self) -> str:
        """sha256 of the text, not of the gzip file: another zlib may pack the same text differently."""
        return hashlib.sha256(self.text).hexdigest()


def pack(samples: Samples) -> bytes:
    """The gzip file; the same bytes each time on one machine."""
    buffer = io.BytesIO()
    with gzip.GzipFile(filename="", fileobj=buffer, mode="wb", compresslevel=9, mtime=0) as file:
        file.write(samples.text)
    return buffer.getvalue()


def unpack(content: bytes) -> Samples:
    """The samples in `content`; `ValueError` says what is wrong with the file."""
    arms: dict[str, list[Measurement]] = {"candidate": [], "reference": []}
    text = _decompress(content)
    for number, line in enumerate(io.BytesIO(text), start=1):
        try:
            fields = json.loads(line)
            arms[fields.pop("arm")].append(Measurement.model_validate(fields))
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
            raise ValueError(f"line {number} is not a measurement: {str(error).splitlines()[0]}") from error
    samples = Samples(tuple(arms["candidate"]), tuple(arms["reference"]))
    if samples.text != text:
        raise ValueError("the lines are not written as they would be written again")
    return samples


def _decompress(content: bytes) -> bytes:
    if content[: len(_HEADER)] != _HEADER:
        raise ValueError("the gzip header is not the plain one that is always written")
    inflate = zlib.decompressobj(wbits=31)
    try:
        text = inflate.decompress(content, _LARGEST_BYTES)
    except zlib.error as error:
        raise ValueError(f"the gzip file is damaged: {error}") from error
    if inflate.unconsumed_tail:
        raise ValueError(f"the samples take more than {_LARGEST_BYTES} bytes")
    if not inflate.eof or inflate.unused_data:
        raise ValueError("the gzip file is cut short or something follows it")
    return text
