"""Line charts as inline SVG, small and without any library."""

from dataclasses import dataclass
from html import escape
from math import floor, log10

_WIDTH, _HEIGHT = 520, 300
_LEFT, _RIGHT, _TOP, _BOTTOM = 64, 28, 46, 58
_ACROSS, _UP = _WIDTH - _LEFT - _RIGHT, _HEIGHT - _TOP - _BOTTOM
_TICKS = 5
_LIMITS_SHOWN = 4
COLORS = ("#1f6feb", "#d1571c", "#2da44e", "#8250df")


@dataclass(frozen=True)
class Line:
    """A named series of points, from left to right."""

    name: str
    points: tuple[tuple[float, float], ...]


def line_chart(title: str, lines: list[Line], *, x: str, y: str, limit: float | None = None) -> str:
    """Return a chart; `limit` is drawn as a dashed horizontal line.

    Values beyond four times the limit, those of an overloaded plan, have no place on the axis: the
    line breaks off there, and a triangle at the top stands for each of them.
    """
    lines = [line for line in lines if line.points]
    xs = [point[0] for line in lines for point in line.points] or [0.0, 1.0]
    ys = [point[1] for line in lines for point in line.points] or [1.0]
    highest = max([*ys, limit or 0.0])
    if limit is not None:
        highest = min(highest, _LIMITS_SHOWN * limit)
    across, up = _ticks(min(xs), max(xs)), _ticks(0.0, highest)
    low, high, top = across[0], across[-1], up[-1]

    def place(point: tuple[float, float]) -> tuple[float, float]:
        return (
            _LEFT + (point[0] - low) / (high - low) * _ACROSS,
            _HEIGHT - _BOTTOM - min(1.0, point[1] / top) * _UP,
        )

    parts = [
        f'<svg viewBox="0 0 {_WIDTH} {_HEIGHT}" role="img" aria-label="{escape(title)}">',
        _text(_LEFT, 18, title, weight=600),
    ]
    for value in up:
        _, height = place((low, value))
        parts.append(_rule(height, "grid"))
        parts.append(_text(_LEFT - 6, height + 4, _number(value), anchor="end"))
    for value in across:
        parts.append(
            _text(place((value, 0))[0], _HEIGHT - _BOTTOM + 16, _number(value), anchor="middle")
        )
    parts.append(_text(_LEFT, _HEIGHT - 26, x))
    parts.append(_text(_LEFT, 34, y, size=10))
    if limit is not None:
        _, height = place((low, limit))
        parts.append(_rule(height, "limit"))
        parts.append(_text(_WIDTH - _RIGHT, height - 4, "target", anchor="end", size=10))
    for number, line in enumerate(lines):
        color = COLORS[number % len(COLORS)]
        for part in _within(line.points, top):
            path = " ".join(f"{a:.1f},{b:.1f}" for a, b in map(place, part))
            parts.append(
                f'<polyline points="{path}" fill="none" stroke="{color}" stroke-width="2"/>'
            )
        for point in line.points:
            tip = f"{line.name}: {_number(point[0])}, {_number(point[1])}"
            parts.append(_mark(*place(point), tip, color, is_beyond=point[1] > top))
        left = _LEFT + number * 150
        parts.append(f'<rect x="{left}" y="{_HEIGHT - 15}" width="10" height="10" fill="{color}"/>')
        parts.append(_text(left + 15, _HEIGHT - 6, line.name))
    return "".join([*parts, "</svg>"])


def _ticks(low: float, high: float) -> list[float]:
    """Return round values from `low` or below it to `high` or above it: 0, 20, 40."""
    if high <= low:
        high = low + 1
    rough = (high - low) / _TICKS
    unit: float = 10 ** floor(log10(rough))
    step = next(unit * factor for factor in (1, 2, 2.5, 5, 10) if unit * factor >= rough * 0.999)
    first, last = floor(low / step + 1e-9), -floor(-high / step + 1e-9)
    return [round(number * step, 12) for number in range(first, last + 1)]


def _within(points: tuple[tuple[float, float], ...], top: float) -> list[list[tuple[float, float]]]:
    """Return the stretches of a line that lie on the axis."""
    parts: list[list[tuple[float, float]]] = [[]]
    for point in points:
        if point[1] <= top:
            parts[-1].append(point)
        elif parts[-1]:
            parts.append([])
    return [part for part in parts if len(part) > 1]


def _mark(across: float, height: float, tip: str, color: str, *, is_beyond: bool) -> str:
    title = f"<title>{escape(tip)}{' (beyond the axis)' if is_beyond else ''}</title>"
    if is_beyond:
        corners = f"{across - 5:.1f},{height:.1f} {across + 5:.1f},{height:.1f} "
        corners += f"{across:.1f},{height - 8:.1f}"
        return f'<polygon points="{corners}" fill="{color}">{title}</polygon>'
    return f'<circle cx="{across:.1f}" cy="{height:.1f}" r="3" fill="{color}">{title}</circle>'


def _rule(height: float, kind: str) -> str:
    return (
        f'<line x1="{_LEFT}" x2="{_WIDTH - _RIGHT}" y1="{height:.1f}" y2="{height:.1f}" '
        f'class="{kind}"/>'
    )


def _text(
    x: float, y: float, text: str, *, anchor: str = "start", size: int = 11, weight: int = 400
) -> str:
    return (
        f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" font-size="{size}" '
        f'font-weight="{weight}">{escape(text)}</text>'
    )


def _number(value: float) -> str:
    if value >= 1000:
        return f"{value:,.0f}"
    return f"{value:.3g}"
