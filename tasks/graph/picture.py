"""The groups of a graph as a picture: one bar each, as long as its share of the cost."""

from __future__ import annotations

from html import escape

from tasks.gpu import Gpu
from tasks.graph.model import Graph
from tasks.graph.summary import Row, count_text, headline, rows_of, shortened
from tasks.sizes import gib

MOST_BARS = 40
_WIDTH, _ROW, _TOP, _LEFT, _BAR = 960, 44, 64, 16, 640
_COLOURS = {
    "matmul": "#2b6cb0", "attention": "#6b46c1", "pointwise": "#2f855a", "rows": "#b7791f", "gather": "#c05621",
    "scatter": "#c05621", "sort": "#97266d", "scan": "#97266d", "make": "#718096", "opaque": "#c53030",
    "view": "#718096",
}  # fmt: skip


def svg(graph: Graph, title: str, gpu: Gpu | None = None) -> str:
    """A whole SVG file. The costliest groups are drawn, in the order of execution; text says every figure."""
    rows = rows_of(graph, gpu)
    kept = sorted(sorted(rows, key=lambda row: -row.cost_ms)[:MOST_BARS], key=lambda row: row.first)
    longest = max((row.share for row in kept), default=1.0) or 1.0
    height = _TOP + _ROW * len(kept) + 40
    bars = "\n".join(_bar(row, place, longest) for place, row in enumerate(kept))
    rest = len(rows) - len(kept)
    note = f"{rest} cheaper kinds of group are not drawn." if rest else ""
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {height}" width="{_WIDTH}" '
        f'height="{height}" role="img" aria-labelledby="title desc" font-family="sans-serif">\n'
        f'<title id="title">{escape(title)}</title>\n'
        f'<desc id="desc">{escape(_described(graph, kept))}</desc>\n'
        f'<rect width="{_WIDTH}" height="{height}" fill="#ffffff"/>\n'
        f'<text x="{_LEFT}" y="26" font-size="17" font-weight="bold" fill="#1a202c">{escape(title)}</text>\n'
        f'<text x="{_LEFT}" y="46" font-size="11" fill="#4a5568">{escape(_cut(headline(graph), 150))}</text>\n'
        f"{bars}\n"
        f'<text x="{_LEFT}" y="{height - 14}" font-size="11" fill="#4a5568">{escape(note)}</text>\n</svg>\n'
    )


def _bar(row: Row, place: int, longest: float) -> str:
    y = _TOP + place * _ROW
    width = max(2.0, _BAR * row.share / longest)
    times = f"{row.count} x " if row.count > 1 else ""
    label = _cut(f"{times}{row.kind}: {shortened(row.operations)}", 118)
    return (
        f'<g role="listitem"><title>{escape(_sentence(row))}</title>'
        f'<text x="{_LEFT}" y="{y + 14}" font-size="12" fill="#1a202c">{escape(label)}</text>'
        f'<rect x="{_LEFT}" y="{y + 20}" width="{width:.1f}" height="14" rx="2" fill="{_COLOURS[row.kind]}"/>'
        f'<text x="{_LEFT + width + 8:.1f}" y="{y + 31}" font-size="11" fill="#4a5568">'
        f"{escape(_figures(row))}</text></g>"
    )


def _figures(row: Row) -> str:
    parts = [f"{row.share:.1%}", f"{gib(row.read + row.written)}"]
    if row.flops:
        parts.append(f"{count_text(row.flops)}FLOP")
    return ", ".join(parts)


def _sentence(row: Row) -> str:
    return (
        f"{row.kind}, {row.count} times: {shortened(row.operations, 30)}; {row.share:.1%} of the cost; reads "
        f"{gib(row.read)}, writes {gib(row.written)}, {count_text(row.flops)} matrix FLOP, "
        f"{count_text(row.vector)} vector operations"
    )


def _described(graph: Graph, rows: list[Row]) -> str:
    return f"{headline(graph)}. Groups in order: " + ". ".join(_sentence(row) for row in rows) + "."


def _cut(text: str, most: int) -> str:
    return text if len(text) <= most else f"{text[: most - 3]}..."
