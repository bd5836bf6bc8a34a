"""Charts are well-formed XML with every point inside the picture."""

from xml.etree import ElementTree

from dpd.planner.svg import Line, line_chart


def test_a_chart_is_well_formed_and_inside_its_box() -> None:
    """Also with text that must be escaped and a value far beyond the limit."""
    line = Line("a < b & c", ((0.5, 10.0), (1.0, 20.0), (2.0, 9e9)))
    root = ElementTree.fromstring(line_chart("t & u", [line], x="x", y="ms", limit=30.0))
    width, height = (float(value) for value in root.attrib["viewBox"].split()[2:])
    circles = root.findall("circle")
    assert len(circles) == 3
    assert all(0 <= float(c.attrib["cx"]) <= width for c in circles)
    assert all(0 <= float(c.attrib["cy"]) <= height for c in circles)
    assert [float(c.attrib["cy"]) for c in circles] == sorted(
        (float(c.attrib["cy"]) for c in circles), reverse=True
    )


def test_a_chart_without_points_is_still_one() -> None:
    """No plan of that kind: axes only."""
    assert ElementTree.fromstring(line_chart("t", [Line("a", ())], x="x", y="y")) is not None
