"""Line charts as inline SVG, small and without any library."""

from dataclasses import dataclass
from html import escape

_WIDTH, _HEIGHT = 520, 300
_LEFT, _RIGHT, _TOP, _BOTTOM = 64, 16, 34, 58
COLORS = ("#1f6feb", "#d1571c", "#2da44e", "#8250df")


@dataclass(frozen=True)
class Line:
    """A named series of points."""

    name: str
    points: tuple[tuple[float, float], ...]


def line_chart(title: str, lines: list[Line], *, x: str, y: str, limit: float | None = None) -> str:
    """Return a chart; `limit` is drawn as a dashed horizontal line.

    Values beyond four times the limit, those of an overloaded plan, are cut off at the top.
    """
    lines = [line for line in lines if line.points]
    xs = [point[0] for line in lines for point in line.points] or [0.0, 1.0]
    ys = [point[1] for line in lines for point in line.points] or [1.0]
    top = max([*ys, limit or 0.0]) * 1.08 or 1.0
    if limit is not None:
        top = min(top, 4 * limit)
    low, high = min(xs), max(xs) if max(xs) > min(xs) else min(xs) + 1

    def place(point: tuple[float, float]) -> tuple[float, float]:
        across = (point[0] - low) / (high - low) * (_WIDTH - _LEFT - _RIGHT)
        up = min(1.0, point[1] / top) * (_HEIGHT - _TOP - _BOTTOM)
        return _LEFT + across, _HEIGHT - _BOTTOM - up

    parts = [
        f'<svg viewBox="0 0 {_WIDTH} {_HEIGHT}" role="img" aria-label="{escape(title)}">',
        _text(_LEFT, 18, title, weight=600),
    ]
    for step in range(5):
        value = top * step / 4
        _, height = place((low, value))
        parts.append(
            f'<line x1="{_LEFT}" x2="{_WIDTH - _RIGHT}" y1="{height:.1f}" y2="{height:.1f}" '
            'class="grid"/>'
        )
        parts.append(_text(_LEFT - 6, height + 4, _number(value), anchor="end"))
        value = low + (high - low) * step / 4
        across, _ = place((value, 0))
        parts.append(_text(across, _HEIGHT - _BOTTOM + 16, _number(value), anchor="middle"))
    parts.append(_text(_LEFT, _HEIGHT - 26, x))
    parts.append(_text(_LEFT, 31, y, size=10))
    if limit is not None:
        _, height = place((low, limit))
        parts.append(
            f'<line x1="{_LEFT}" x2="{_WIDTH - _RIGHT}" y1="{height:.1f}" y2="{height:.1f}" '
            'class="limit"/>'
        )
        parts.append(_text(_WIDTH - _RIGHT, height - 4, "target", anchor="end", size=10))
    for number, line in enumerate(lines):
        color = COLORS[number % len(COLORS)]
        places = [place(point) for point in line.points]
        path = " ".join(f"{a:.1f},{b:.1f}" for a, b in places)
        parts.append(f'<polyline points="{path}" fill="none" stroke="{color}" stroke-width="2"/>')
        for (across, height), point in zip(places, line.points, strict=True):
            tip = escape(f"{line.name}: {_number(point[0])}, {_number(point[1])}")
            parts.append(
                f'<circle cx="{across:.1f}" cy="{height:.1f}" r="3" fill="{color}">'
                f"<title>{tip}</title></circle>"
            )
        left = _LEFT + number * 150
        parts.append(f'<rect x="{left}" y="{_HEIGHT - 15}" width="10" height="10" fill="{color}"/>')
        parts.append(_text(left + 15, _HEIGHT - 6, line.name))
    return "".join([*parts, "</svg>"])


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
