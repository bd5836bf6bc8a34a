"""Whatever the style of a file, a change of its text is that change of its data and no other."""

import copy
import json
from typing import Any

import pytest
import yaml

from dpd.planner.yaml_text import YamlText

DATA: dict[str, Any] = {
    "first": {"a": 1, "b": "two", "list": ["x", "y"]},
    "second": [{"name": "n", "empty": {}, "none": []}, {"name": "m", "deep": {"c": 3, "d": 4}}],
    "last": "text",
}
STYLES = {
    "block": yaml.safe_dump(DATA, sort_keys=False),
    "flow": yaml.safe_dump(DATA, default_flow_style=True, sort_keys=False),
    "mixed": yaml.safe_dump(DATA, default_flow_style=None, sort_keys=False),
    "json": json.dumps(DATA),
    "json-indented": json.dumps(DATA, indent=2),
    "no-end": yaml.safe_dump(DATA, sort_keys=False).rstrip(),
    "crlf": yaml.safe_dump(DATA, sort_keys=False).replace("\n", "\r\n"),
    "comments": yaml.safe_dump(DATA, sort_keys=False).replace("\n", "  # why: a, {b}\n"),
}


@pytest.fixture(params=STYLES.values(), ids=list(STYLES))
def text(request: pytest.FixtureRequest) -> YamlText:
    return YamlText(request.param)


def test_a_change_of_text_is_one_of_data(text: YamlText) -> None:
    """Values, keys, list items and whole mappings."""
    expected = copy.deepcopy(DATA)
    text.set(("first", "a"), 12)
    expected["first"]["a"] = 12
    text.set(("first", "b"), "8GiB")
    expected["first"]["b"] = "8GiB"
    text.set(("second", 1, "deep", "e"), 0.75)
    expected["second"][1]["deep"]["e"] = 0.75
    text.set(("second", 0, "empty", "f"), "g")
    expected["second"][0]["empty"] = {"f": "g"}
    text.set(("second", 0, "new", "h"), 1)
    expected["second"][0]["new"] = {"h": 1}
    text.append(("first", "list"), ["--flag", "4096"])
    expected["first"]["list"] += ["--flag", "4096"]
    text.append(("second", 0, "none"), ["--flag"])
    expected["second"][0]["none"] = ["--flag"]
    text.set(("first", "list", 1), "z")
    expected["first"]["list"][1] = "z"
    text.insert(("first", "after"), {"i": "j"}, after="a")
    expected["first"]["after"] = {"i": "j"}
    text.rename(("second", 1, "deep"), "renamed", {"k": "l"})
    del expected["second"][1]["deep"]
    expected["second"][1]["renamed"] = {"k": "l"}
    for key in ("name", "empty"):
        text.remove(("second", 0, key))
        del expected["second"][0][key]
    text.remove(("last",))
    del expected["last"]
    assert yaml.safe_load(text.text) == expected


def test_comments_stay(text: YamlText) -> None:
    """All but those on the line of what is removed."""
    before = text.text.count("# why")
    text.set(("first", "a"), 12)
    text.set(("first", "new"), 1)
    text.append(("first", "list"), ["z"])
    assert text.text.count("# why") == before


def test_json_stays_json() -> None:
    """Keys and texts that are added are quoted."""
    text = YamlText(STYLES["json"])
    text.set(("first", "new", "size"), "8GiB")
    text.append(("second", 0, "none"), ["--flag"])
    assert json.loads(text.text)["first"]["new"] == {"size": "8GiB"}
