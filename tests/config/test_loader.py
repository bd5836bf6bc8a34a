"""From a file to an environment, or to lines that a person can act on."""

import copy
import random
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from dpd.config import Environment, load_environment
from dpd.config.environment import EnvironmentFile
from dpd.config.loader import ENVIRONMENTS, environment_from
from dpd.config.source import parse_documents
from dpd.errors import UserError
from tests.config.conftest import Load, Refusal

SHIPPED = sorted(path.stem for path in ENVIRONMENTS.glob("*.yaml"))
FUZZ = settings(derandomize=True, max_examples=300, deadline=None, database=None)
PROD = (ENVIRONMENTS / "prod.yaml").read_text(encoding="utf-8")


def test_three_environments_ship() -> None:
    """The small one, the wide one and the documented example."""
    assert {"dev", "prod", "staging"} <= set(SHIPPED)


@pytest.mark.parametrize("name", SHIPPED)
def test_shipped_environments_load(name: str) -> None:
    """The file's name is the environment's; each serves something disaggregated."""
    environment = load_environment({"env": name})
    assert environment.name == name
    assert any(endpoint.topology == "disaggregated" for endpoint in environment.endpoints)


@pytest.mark.parametrize("name", SHIPPED)
def test_a_dump_loads_as_the_same_environment(name: str) -> None:
    """Written out with its units, an environment is a file again."""
    environment = load_environment({"env": name})
    dumped = environment.model_dump(mode="json", by_alias=True, exclude={"name"})
    text = yaml.safe_dump(dumped, sort_keys=False)
    (source,) = parse_documents(text.encode(), name="file")
    assert environment_from(source, name=name) == environment


@pytest.mark.parametrize("context", [{}, {"env": ""}, {"env": None}])
def test_an_environment_must_be_chosen(context: dict[str, Any]) -> None:
    """The message lists what there is."""
    with pytest.raises(UserError) as caught:
        load_environment(context)
    allowed = ", ".join(SHIPPED)
    assert caught.value.lines == (f"no environment chosen; add -c env=NAME, one of: {allowed}",)


@pytest.mark.parametrize(
    "name", ["prd", "../environments/prod", "prod.yaml", "PROD", 5, ["prod"], "x" * 5000]
)
def test_unknown_environment(name: object) -> None:
    """Refused by name; no path leads anywhere else."""
    with pytest.raises(UserError) as caught:
        load_environment({"env": name})
    (line,) = caught.value.lines
    assert line.startswith("-c env=")
    assert "no such file in environments/; " in line
    assert len(line) < 300


@pytest.mark.parametrize("folder", ["missing", "\0", "\udcff", "x" * 5000, "app.py", 5])
def test_folder_without_environments(folder: object) -> None:
    """Nothing to choose from."""
    with pytest.raises(UserError) as caught:
        load_environment({"env": "prod", "environments": folder})
    (line,) = caught.value.lines
    assert line.startswith("-c environments=")
    assert line.endswith(": no environments there; give a folder with files NAME.yaml")


@pytest.mark.parametrize(
    "folder", [str(ENVIRONMENTS), f"{ENVIRONMENTS}/", f"{ENVIRONMENTS}/../environments"]
)
def test_folder_is_chosen_by_parameter(folder: str, environment: Environment) -> None:
    """However its path is written."""
    assert load_environment({"env": "prod", "environments": folder}) == environment


def test_files_of_the_present_folder_are_named_without_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As a person sees them."""
    (tmp_path / "x.yaml").write_text("a", encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    with pytest.raises(UserError, match=r"^x\.yaml:1: "):
        load_environment({"env": "x", "environments": "."})


def test_folder_named_like_a_file(tmp_path: Path) -> None:
    """The system's reason is passed on."""
    (tmp_path / "prod.yaml").mkdir()
    with pytest.raises(UserError, match=r"/prod\.yaml: cannot be read: Is a directory"):
        load_environment({"env": "prod", "environments": str(tmp_path)})


@pytest.mark.parametrize("name", ["Prod", "a_b", "1a", "a-", "x" * 17])
def test_file_names_are_environment_names(name: str, tmp_path: Path) -> None:
    """They become part of stack and bucket names."""
    (tmp_path / f"{name}.yaml").write_text(PROD, encoding="utf-8")
    with pytest.raises(UserError) as caught:
        load_environment({"env": name, "environments": str(tmp_path)})
    (line,) = caught.value.lines
    assert f"{name}.yaml: taken from the file's name: name: given {name!r}; allowed: " in line


def test_name_is_no_key_of_the_file(refusal: Refusal) -> None:
    """A name is never typed twice."""
    (line,) = refusal(PROD + "name: prod\n")
    assert "name: unknown key" in line


def test_messages_do_not_depend_on_the_folder(tmp_path: Path, load: Load) -> None:
    """Only the last folder is shown, as in environments/prod.yaml:5."""
    with pytest.raises(UserError) as caught:
        load(PROD.replace("8GiB", "8GB"))
    assert str(tmp_path) not in str(caught.value)


def expect_environment_or_lines(raw: bytes) -> None:
    """The one property: an environment, or lines with the place."""
    lines: tuple[str, ...] | None = None
    try:
        for source in parse_documents(raw, name="prod.yaml"):
            assert isinstance(environment_from(source, name="prod"), Environment)
    except UserError as error:
        lines = error.lines
    assert lines != ()
    assert all(line.startswith("prod.yaml:") for line in lines or ())
    assert all(line.isprintable() and len(line) < 1000 for line in lines or ())


PIECES = st.sampled_from(
    [
        "",
        "\t",
        "\x00",
        ":",
        ": ",
        "- ",
        "[",
        "]",
        "{",
        "}",
        "&a ",
        "*a",
        "<<: ",
        "!!int ",
        "? ",
        "|\n",
        "---\n",
        "...\n",
        "#",
        "'",
        '"',
        "\n",
        "\r\n",
        "\ufeff",
        "~",
        "yes",
        "010",
        "1:30",
        ".nan",
        "1e999",
        "9" * 30,
        "null",
        "true",
        "-1",
        "0x10",
        "2026-01-01",
        "é",
        "\u2028",
        "\x85",
        "%",
        "@",
    ]
)


@FUZZ
@given(
    st.lists(
        st.tuples(st.integers(0, len(PROD)), st.integers(0, 12), PIECES), min_size=1, max_size=3
    )
)
def test_damaged_text_never_breaks_the_loader(damages: list[tuple[int, int, str]]) -> None:
    """Pieces cut out of the file and others put in."""
    text = PROD
    for start, length, piece in damages:
        text = text[:start] + piece + text[start + length :]
    expect_environment_or_lines(text.encode("utf-8", "replace"))


def places(data: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """Every place in the data."""
    items = (
        data.items()
        if isinstance(data, dict)
        else enumerate(data)
        if isinstance(data, list)
        else ()
    )
    return [path, *(place for key, value in items for place in places(value, (*path, key)))]


DATA = yaml.safe_load(PROD)
STRANGE: list[Any] = [None, True, False, 0, -1, 10**15, 0.5, "", "x", "8GiB", "10.0.0.0/8", [], {}]
STRANGE += [[1], {"a": 1}, {"name": "x"}, "0.0.0.0/0", "10.1.0.0/28", "é", "a" * 300, [[]], [None]]
STRANGE += ["colocated", "decode", "use2-az2", ["a", "a"], {"": ""}, {"topology": "colocated"}]


@FUZZ
@given(
    st.lists(
        st.tuples(st.sampled_from(places(DATA)), st.sampled_from(STRANGE)), min_size=1, max_size=3
    )
)
def test_strange_values_never_break_the_loader(
    replacements: list[tuple[tuple[Any, ...], Any]],
) -> None:
    """Any value at any place, some at once."""
    root = {"file": copy.deepcopy(DATA)}
    for path, value in replacements:
        node: Any = root
        for key in ("file", *path)[:-1]:
            node = node[key] if _has(node, key) else None
        if _has(node, ("file", *path)[-1]):
            node[("file", *path)[-1]] = copy.deepcopy(value)
    expect_environment_or_lines(yaml.safe_dump(root["file"], sort_keys=False).encode())


def _has(node: Any, key: Any) -> bool:
    if isinstance(node, dict):
        return key in node
    return isinstance(node, list) and isinstance(key, int) and key < len(node)


@FUZZ
@given(st.sampled_from(places(DATA)), st.randoms(use_true_random=False))
def test_doubled_and_missing_values_never_break_the_loader(
    path: tuple[Any, ...], chance: random.Random
) -> None:
    """An item twice, a key left out."""
    data = copy.deepcopy(DATA)
    parent = data
    for key in path[:-1]:
        parent = parent[key]
    if isinstance(parent, list) and chance.random() < 0.5:
        parent.append(copy.deepcopy(parent[path[-1]]))
    elif path:
        del parent[path[-1]]
    expect_environment_or_lines(yaml.safe_dump(data, sort_keys=False).encode())


def test_the_models_are_frozen() -> None:
    """Nobody changes an environment after it was checked."""
    environment = load_environment({"env": "prod"})
    for model in (environment, environment.network, environment.endpoints[0]):
        assert model.model_config["frozen"]
        assert model.model_config["extra"] == "forbid"
    assert EnvironmentFile.model_config["strict"]
