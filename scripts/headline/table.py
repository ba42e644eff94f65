"""The recorded rows as a table, for the documentation."""

from typing import Any


def table(record: dict[str, Any]) -> str:
    """Markdown: a line a row, ratios of times as they were published, nothing worked out anew."""
    lines = ["| row | bar | ours over the peer's time | slowest workload | met |", "|---|---|---|---|---|"]
    for row in record["rows"]:
        lines.append(
            f"| {row['row']} | {row['bar']} | {row['ratio']:.3f} | {row['slowest_us']:.1f} us "
            f"| {'yes' if row['met'] else 'no'} |"
        )
    return "\n".join(lines)
