"""Draws curves as SVG, the same bytes for the same figures."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

Point = tuple[float, float]

_WIDTH, _HEIGHT = 640, 400
_LEFT, _RIGHT, _TOP, _BOTTOM = 64, 176, 36, 48
_COLOURS = ("#1f5fa8", "#c2571a", "#2e8540", "#7b4ea3", "#767676", "#a81f4d")
_TICKS = 5


@dataclass(frozen=True, slots=True)
class Line:
    """One named curve."""

    name: str
    points: Sequence[Point]


@dataclass(frozen=True, slots=True)
class Plot:
    """Some curves over the same axes."""

    title: str
    across: str
    """What the horizontal axis measures."""
    up: str
    lines: Sequence[Line]


def svg(plot: Plot) -> str:
    """Return a plot as an SVG document.

    Raises:
        ValueError: it has no point.
    """
    points = [point for line in plot.lines for point in line.points]
    if not points:
        raise ValueError(f"{plot.title}: has nothing to draw")
    low_x, high_x = _bounds([x for x, _ in points])
    low_y, high_y = _bounds([y for _, y in points])

    def at(point: Point) -> str:
        x = _LEFT + (point[0] - low_x) / (high_x - low_x) * (_WIDTH - _LEFT - _RIGHT)
        y = _HEIGHT - _BOTTOM - (point[1] - low_y) / (high_y - low_y) * _inner_height()
        return f"{x:.1f},{y:.1f}"

    rows = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {_HEIGHT}"'
        ' font-family="sans-serif" font-size="12">',
        f'<rect width="{_WIDTH}" height="{_HEIGHT}" fill="#ffffff"/>',
        f'<text x="{_LEFT}" y="20" font-size="14">{escape(plot.title)}</text>',
        *_axes(plot, (low_x, high_x), (low_y, high_y)),
    ]
    for number, line in enumerate(plot.lines):
        colour = _COLOURS[number % len(_COLOURS)]
        path = " ".join(at(point) for point in line.points)
        rows.append(f'<polyline points="{path}" fill="none" stroke="{colour}" stroke-width="2"/>')
        y = _TOP + 18 * number + 8
        rows.append(
            f'<rect x="{_WIDTH - _RIGHT + 12}" y="{y}" width="14" height="3"',
        )
        rows[-1] += f' fill="{colour}"/>'
        rows.append(f'<text x="{_WIDTH - _RIGHT + 32}" y="{y + 6}">{escape(line.name)}</text>')
    return "\n".join([*rows, "</svg>"]) + "\n"


def _axes(plot: Plot, across: Point, up: Point) -> list[str]:
    right, bottom = _WIDTH - _RIGHT, _HEIGHT - _BOTTOM
    rows = [
        f'<path d="M{_LEFT},{_TOP} V{bottom} H{right}" fill="none" stroke="#333333"/>',
        f'<text x="{(_LEFT + right) // 2}" y="{_HEIGHT - 12}" text-anchor="middle">'
        f"{escape(plot.across)}</text>",
        f'<text transform="translate(16,{(_TOP + bottom) // 2}) rotate(-90)"'
        f' text-anchor="middle">{escape(plot.up)}</text>',
    ]
    for tick in range(_TICKS):
        share = tick / (_TICKS - 1)
        x = _LEFT + share * (right - _LEFT)
        y = bottom - share * _inner_height()
        rows.append(
            f'<text x="{x:.1f}" y="{bottom + 16}" text-anchor="middle">'
            f"{across[0] + share * (across[1] - across[0]):.3g}</text>"
        )
        rows.append(
            f'<text x="{_LEFT - 6}" y="{y + 4:.1f}" text-anchor="end">'
            f"{up[0] + share * (up[1] - up[0]):.3g}</text>"
        )
    return rows


def _inner_height() -> int:
    return _HEIGHT - _TOP - _BOTTOM


def _bounds(values: Sequence[float]) -> Point:
    low, high = min(values), max(values)
    return (low, high) if high > low else (low - 0.5, high + 0.5)
