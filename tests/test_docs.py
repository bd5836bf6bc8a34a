"""What the documentation says is so: links, commands, names, examples, generated pages."""

import json
import re
import runpy
import shlex
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml

from dpd.cli import main
from dpd.config import Environment, load_environment, naming
from dpd.config.loader import ENVIRONMENTS, environment_from
from dpd.config.source import parse_documents

ROOT = Path(__file__).parents[1]
README = ROOT / "README.md"
PAGES = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")])
CDK = "node_modules/.bin/cdk"


def read(page: Path) -> str:
    return page.read_text(encoding="utf-8")


def name_of(page: Path) -> str:
    return str(page.relative_to(ROOT))


def blocks(page: Path, language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```$", read(page), re.DOTALL | re.MULTILINE)


def code(page: Path) -> str:
    """Return everything that is set as code: what a reader may type."""
    fenced = re.findall(r"^```.*?\n(.*?)^```$", read(page), re.DOTALL | re.MULTILINE)
    return "\n".join([*fenced, *re.findall(r"`([^`\n]+)`", read(page))])


def prose(page: Path) -> str:
    """Return a page without its fenced code."""
    return re.sub(r"^```.*?^```$", "", read(page), flags=re.DOTALL | re.MULTILINE)


def anchors(page: Path) -> set[str]:
    """Return the anchors that GitHub makes of headings."""
    headings = re.findall(r"^#+ (.+)$", prose(page), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def commands(page: Path) -> Iterator[list[str]]:
    """Return the words of every command line in a page."""
    for block in blocks(page, "sh"):
        for line in block.replace("\\\n", " ").splitlines():
            if words := shlex.split(line, comments=True):
                yield words


def context_of(words: list[str]) -> dict[str, str]:
    pairs = (words[at + 1] for at, word in enumerate(words[:-1]) if word == "-c")
    return dict(pair.split("=", 1) for pair in pairs)


@pytest.fixture(scope="module")
def prod() -> Environment:
    return load_environment({"env": "prod"})


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_links_resolve(page: Path) -> None:
    """To files, and to headings in them."""
    for target in re.findall(r"\]\(([^)\s]+)\)", re.sub(r"`[^`\n]+`", "", prose(page))):
        if target.startswith("https://"):
            continue
        path, _, anchor = target.partition("#")
        linked = (page.parent / path).resolve() if path else page
        assert linked.exists(), target
        assert not anchor or anchor in anchors(linked), target


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_make_targets_exist(page: Path) -> None:
    """Every `make ...` that is set as code."""
    targets = set(re.findall(r"^([a-z0-9-]+):", read(ROOT / "Makefile"), re.MULTILINE))
    assert set(re.findall(r"\bmake ([a-z][a-z0-9-]*)", code(page))) <= targets


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_scripts_exist(page: Path) -> None:
    """Every script or module that is named."""
    for path in re.findall(r"\b(?:scripts|dpd|k8s|stacks|tests)/[\w/]+\.(?:py|yaml)", code(page)):
        assert (ROOT / path).is_file(), path


def test_readme_names_the_two_commands() -> None:
    lines = [" ".join(words) for words in commands(README)]
    assert "make synth ENV=prod" in lines
    assert "make test" in lines


def test_cdk_commands_fit_the_environment() -> None:
    """Their parameters load, and their stacks are there."""
    found = [words for words in commands(README) if words[0] == CDK and words[1] != "bootstrap"]
    assert {words[1] for words in found} == {"deploy", "destroy", "synth"}
    for words in found:
        environment = load_environment(context_of(words))
        names = {naming.stack_name(environment, part) for part in ("foundation", "cluster")}
        names |= {naming.endpoint_stack_name(environment, e.name) for e in environment.endpoints}
        stacks = {word for word in words if word.startswith("dpd-")}
        assert stacks <= names
        assert stacks or words[1] == "synth"


def test_make_contexts_load() -> None:
    """`CONTEXT` in a make command holds parameters that there are."""
    pages = (README, ROOT / "docs/configuration.md")
    contexts = [found for page in pages for found in re.findall(r"CONTEXT='([^']+)'", code(page))]
    assert contexts
    for context in contexts:
        load_environment({"env": "prod", **context_of(shlex.split(context))})


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_dpd_commands_exist(page: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """With the options that they are given."""
    for words in commands(page):
        if Path(words[0]).name == "dpd":
            with pytest.raises(SystemExit, match="0"):
                main([words[1], "--help"])
            assert {word for word in words if word.startswith("--")} <= set(
                re.findall(r"--[a-z-]+", capsys.readouterr().out)
            )


def test_parameter_examples_load() -> None:
    """Every `-c ...` of the configuration page."""
    examples = re.findall(r"^\|.*\| `(-c .+)` \|$", read(ROOT / "docs/configuration.md"), re.M)
    assert len(examples) > 5
    for example in examples:
        context = {"env": "prod", **context_of(shlex.split(example))}
        context.pop("environments", None)  # a folder of the reader's
        load_environment(context)


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_names_are_the_derived_ones(page: Path, prod: Environment) -> None:
    """Stacks, buckets and cluster of `prod` are called what the code calls them."""
    known = {naming.stack_name(prod, part) for part in ("foundation", "cluster", "platform")}
    known |= {naming.cluster_name(prod), naming.model_bucket(prod)}
    for endpoint in prod.endpoints:
        known.add(naming.endpoint_stack_name(prod, endpoint.name))
        known.add(naming.sagemaker_endpoint_name(prod, endpoint))
    found = re.findall(r"(?<![\w-])dpd-prod[\w-]*(?![\w.-]*\.\.\.)", read(page))
    assert set(found) <= known


def test_readme_url_is_the_endpoints(prod: Environment) -> None:
    (endpoint,) = prod.endpoints
    assert naming.endpoint_url(endpoint) in code(README)


@pytest.mark.parametrize("name", ["docs/configuration.md", "docs/troubleshooting.md"])
def test_examples_load(name: str) -> None:
    """Every YAML example, put into `prod`."""
    examples = blocks(ROOT / name, "yaml")
    assert examples
    for example in examples:
        data = yaml.safe_load(read(ENVIRONMENTS / "prod.yaml"))
        for key, value in yaml.safe_load(example).items():
            data[key] = {**data[key], **value} if isinstance(value, dict) else value
        # JSON is YAML, and writes no aliases.
        (source,) = parse_documents(json.dumps(data).encode(), name=name)
        environment_from(source, name="prod")


def test_configuration_reference_is_up_to_date() -> None:
    """`python scripts/config_reference.py` writes it."""
    page = read(ROOT / "docs/configuration.md")
    script = runpy.run_path(str(ROOT / "scripts/config_reference.py"))
    assert script["rendered"](page) == page


def test_every_decision_is_in_the_index() -> None:
    """With its title."""
    folder = ROOT / "docs/decisions"
    index = read(folder / "README.md")
    decisions = sorted(folder.glob("[0-9]*.md"))
    assert decisions
    for number, page in enumerate(decisions, start=1):
        title = read(page).splitlines()[0].removeprefix(f"# {number}. ")
        assert f"| [{number}]({page.name}) | {title} |" in index
