"""vLLM's command line: which flags there are, and what a list of arguments says."""

import json
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

ArgumentPath = tuple[str | int, ...]
"""Keys and list positions that lead to an argument in its file."""

_DATA_FILE = Path(__file__).with_name("vllm_flags.json")
_MULTIPLES = {
    **{"k": 10**3, "m": 10**6, "g": 10**9, "t": 10**12},
    **{"K": 2**10, "M": 2**20, "G": 2**30, "T": 2**40},
}
_MOST = 2**63  # No size, count or length is larger, and arithmetic with floats stays possible.
_WITHOUT_VALUE = ("nothing", "negatable")
_TRUTH = ("true", "false")
MODEL_TAG = "model_tag"
"""Name of the first argument without a flag."""


class KnownFlag(NamedTuple):
    """One flag of vLLM 0.19.0."""

    name: str
    takes: str
    """`nothing`, `negatable` (nothing, and there is a `--no-` form), `one`, `optional`, `list`."""
    type: str | None
    choices: tuple[str, ...]


class Flag(NamedTuple):
    """A flag as somebody wrote it."""

    name: str
    """Without dashes, short forms and abbreviations written out."""
    word: str
    """As written, without the value."""
    values: tuple[str, ...]
    path: ArgumentPath
    known: KnownFlag | None
    item: str | None = None
    """The whole item of the list, where it holds more than a flag and a value after `=`."""

    @property
    def value(self) -> str:
        """The value; what a flag without one means is `true` or `false`."""
        if self.known and self.known.takes in _WITHOUT_VALUE:
            if self.values and self.values[0].casefold() in _TRUTH:
                return self.values[0].casefold()
            return "false" if self.word.replace("_", "-").startswith("--no-") else "true"
        return self.values[0] if self.values else ""


def version() -> str:
    """Return the version of vLLM whose flags are known."""
    return str(_data()["version"])


@cache
def known_flags() -> Mapping[str, KnownFlag]:
    """Return the flags of vLLM by name, without dashes."""
    return {
        name: KnownFlag(name, raw["takes"], raw.get("type"), tuple(raw.get("choices", ())))
        for name, raw in _data()["flags"].items()
    }


def parse(words: Sequence[Any], path: ArgumentPath) -> list[Flag]:
    """Return the flags in a list of arguments, as vLLM's own parser reads them.

    It takes underscores for dashes, `--flag=value`, `--json-flag.key value`, and any beginning
    of a name that only one flag has. What it does not take but is plainly meant, `--port 8000` in
    one item and `--flag true`, is read as meant, and left to rules.
    """
    flags: list[Flag] = []
    position = 0
    while position < len(words):
        word, here = words[position], (*path, position)
        position += 1
        if not isinstance(word, str):
            continue
        if not _is_flag(word):
            if _is_joined(word):
                flags += [flag._replace(path=here, item=word) for flag in parse(word.split(), path)]
                continue
            flags.append(Flag(MODEL_TAG, word, (word,), here, None))
            continue
        word, equals, attached = word.partition("=")
        if word.startswith("-O") and not equals:
            word, equals, attached = "-O", word[2:], word[2:]
        known = _lookup(word)
        name = known.name if known else _plain(word)
        values = [attached] if equals else []
        if not equals:
            for value in _following(words[position:], known, is_dotted="." in word):
                values.append(value)
                position += 1
        flags.append(Flag(name, word, tuple(values), here, known))
    return flags


def whole_number(text: str) -> int | None:
    """Return what vLLM makes of `16384`, `16k` (16,000) or `16K` (16,384); None if nothing."""
    number, multiple = text.strip(), 1
    if number[-1:] in _MULTIPLES:
        multiple = _MULTIPLES[number[-1]]
        number = number[:-1]
    try:
        value = int(number) * multiple
    except ValueError:
        decimal = None if multiple == 1 or multiple % 1000 else number_of(number)
        if decimal is None:
            return None
        value = int(decimal * multiple)
    return value if abs(value) < _MOST else None


def number_of(text: str) -> float | None:
    """Return a finite number, or None."""
    try:
        value = float(text)
    except ValueError:
        return None
    return value if abs(value) < float("inf") else None


def _following(words: Sequence[Any], known: KnownFlag | None, *, is_dotted: bool) -> Iterator[str]:
    """Yield the words that are values of the flag before them."""
    most = {"nothing": 0, "negatable": 0, "one": 1, "optional": 1}
    limit = 1 if is_dotted else most.get(known.takes, len(words)) if known else 1
    if known and known.takes in _WITHOUT_VALUE and not is_dotted:
        yield from (word for word in words[:1] if str(word).casefold() in _TRUTH)
    for word in words[:limit]:
        if not isinstance(word, str) or _is_flag(word):
            return
        yield word


def _is_flag(word: str) -> bool:
    """Return whether argparse takes a word for a flag: `-1` and `- x` are values."""
    name = word.partition("=")[0]
    return word.startswith("-") and len(word) > 1 and " " not in name and number_of(word) is None


def _is_joined(word: str) -> bool:
    """Return whether a word is a flag and its value, or several flags, in one: `--port 8000`."""
    first, *others = word.split() or [""]
    return bool(others) and word.startswith("-") and _lookup(first.partition("=")[0]) is not None


def _lookup(word: str) -> KnownFlag | None:
    known = known_flags()
    if not word.startswith("--"):
        short = word.split(".", 1)[0]
        return known.get("optimization-level" if short == "-O" else _short().get(short, ""))
    name = _plain(word)
    if name in known:
        return known[name]
    positive = name.removeprefix("no-")
    if name != positive and positive in known and known[positive].takes == "negatable":
        return known[positive]
    candidates = [flag for flag in known if flag.startswith(name)]
    return known[candidates[0]] if name and len(candidates) == 1 else None


def _plain(word: str) -> str:
    return word.lstrip("-").split(".", 1)[0].replace("_", "-")


@cache
def _short() -> Mapping[str, str]:
    flags = _data()["flags"].items()
    return {short: name for name, raw in flags for short in raw.get("short", ())}


@cache
def _data() -> dict[str, Any]:
    data: dict[str, Any] = json.loads(_DATA_FILE.read_text(encoding="utf-8"))
    return data
