"""Charts are well-formed XML, every point has a place, and ticks are round."""

from xml.etree import ElementTree

import pytest

from dpd.planner.svg import Line, line_chart


def ticks(root: ElementTree.Element, anchor: str) -> list[float]:
    texts = [each.text for each in root.findall("text") if each.attrib["text-anchor"] == anchor]
    return [float(text.replace(",", "")) for text in texts if text and text != "target"]


def test_a_chart_is_well_formed_and_inside_its_box() -> None:
    """Also with text that must be escaped."""
    line = Line("a < b & c", ((0.5, 10.0), (1.0, 20.0), (2.0, 90.0)))
    root = ElementTree.fromstring(line_chart("t & u", [line], x="x", y="ms", limit=30.0))
    width, height = (float(value) for value in root.attrib["viewBox"].split()[2:])
    circles = root.findall("circle")
    assert len(circles) == 3
    assert all(0 <= float(c.attrib["cx"]) <= width for c in circles)
    assert all(0 <= float(c.attrib["cy"]) <= height for c in circles)
    assert [float(c.attrib["cy"]) for c in circles] == sorted(
        (float(c.attrib["cy"]) for c in circles), reverse=True
    )


def test_values_beyond_the_axis_break_the_line_and_are_marked() -> None:
    """No line runs along the top as if the latency stayed there."""
    points = ((1.0, 10.0), (2.0, 20.0), (3.0, 9e9), (4.0, 10.0), (5.0, 9e9))
    root = ElementTree.fromstring(line_chart("t", [Line("a", points)], x="x", y="y", limit=30.0))
    (polyline,) = root.findall("polyline")
    assert len(polyline.attrib["points"].split()) == 2
    assert len(root.findall("circle")) == 3
    marks = root.findall("polygon")
    assert len(marks) == 2
    assert all("beyond the axis" in (mark.findtext("title") or "") for mark in marks)


@pytest.mark.parametrize("highest", [0.003, 0.97, 1.0, 37.3, 100.0, 21_937.0, 1e7])
def test_ticks_are_round_and_enclose_the_values(highest: float) -> None:
    """One or two digits and a half, the same distance between all of them."""
    line = Line("a", ((0.25, highest), (2.0, highest / 3)))
    root = ElementTree.fromstring(line_chart("t", [line], x="x", y="y"))
    for found, low, high in (
        (ticks(root, "end"), 0.0, highest),
        (ticks(root, "middle"), 0.25, 2.0),
    ):
        step = found[1] - found[0]
        assert found[0] <= low
        assert found[-1] >= high
        assert found == pytest.approx([found[0] + n * step for n in range(len(found))])
        assert float(f"{step:.1e}".split("e")[0]) in (1.0, 2.0, 2.5, 5.0)
        assert 3 <= len(found) <= 8


def test_a_chart_without_points_is_still_one() -> None:
    """No plan of that kind: axes only."""
    assert ElementTree.fromstring(line_chart("t", [Line("a", ())], x="x", y="y")) is not None
