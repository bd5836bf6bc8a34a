"""Writes dpd/catalog/vllm_flags.json from the text of `vllm serve --help=all`.

Usage: python scripts/vllm_flags.py [HELP_TEXT]
"""

import json
import re
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
HELP_TEXT = ROOT.parent / "shared/data/vllm-0.19.0-serve-flags.txt"
DATA_FILE = ROOT / "dpd/catalog/vllm_flags.json"
VERSION = "0.19.0"

# The help text gives no type where the default is None; these are what their names say.
_WHOLE_NUMBERS = {
    "api-server-count",
    "block-size",
    "data-parallel-rank",
    "data-parallel-rpc-port",
    "data-parallel-size-local",
    "data-parallel-start-rank",
    "distributed-timeout-seconds",
    "mamba-block-size",
    "max-cpu-loras",
    "max-cudagraph-capture-size",
    "max-log-len",
    "max-num-seqs",
    "max-parallel-loading-workers",
    "num-gpu-blocks-override",
}
_NUMBERS = {"cpu-offload-gb", "kv-offloading-size", "mm-processor-cache-gb", "video-pruning-rate"}
# A whole number by default that vLLM also takes as a word.
_TEXT = {"optimization-level", "ssl-cert-reqs"}


def flags(help_text: str) -> dict[str, dict[str, Any]]:
    """Return every flag by name, with its short forms, how many values it takes, and their type."""
    start, end = help_text.index("\noptions:"), help_text.index("\nWhen passing JSON")
    options = re.split(r"\n(?=  -)", help_text[start:end])[1:]
    return dict(sorted(_flag(option) for option in options))


def _flag(option: str) -> tuple[str, dict[str, Any]]:
    # A description starts two columns after the option, or on the next line at column 24.
    head = re.split(r"\n|(?<=\S) {2,}", option.strip(), maxsplit=1)[0]
    invocations = re.split(r", (?=-)", head)
    words = [invocation.split(" ", 1)[0] for invocation in invocations]
    long_names = [word[2:] for word in words if word.startswith("--")]
    name = long_names[0]
    values = invocations[0].partition(" ")[2]
    entry: dict[str, Any] = {"takes": _takes(name, long_names, values)}
    if short := [word for word in words if not word.startswith("--")]:
        entry["short"] = short
    if entry["takes"] in ("nothing", "negatable"):
        return name, entry
    if choices := re.match(r"\{(.*?)\}", values):
        entry["choices"] = choices[1].split(",")
    else:
        entry["type"] = _type(name, " ".join(option.split()))
    return name, entry


def _takes(name: str, long_names: list[str], values: str) -> str:
    if f"no-{name}" in long_names:
        return "negatable"
    if not values:
        return "nothing"
    if values.endswith("...]"):
        return "list"
    # ['auto', 'hf']: known words of an open set, so one value of any kind.
    return "optional" if re.fullmatch(r"\[[A-Z_]+\]", values) else "one"


def _type(name: str, description: str) -> str:
    default = (re.findall(r"\(default: (.*?)\)(?= |$)", description) or ["None"])[-1]
    if name in _TEXT:
        return "text"
    if "human-readable" in description:
        return "human-readable number"
    if "valid JSON string" in description:
        return "JSON"
    if name in _NUMBERS or re.fullmatch(r"\d*\.\d+", default):
        return "number"
    if name in _WHOLE_NUMBERS or re.fullmatch(r"-?\d+", default):
        return "whole number"
    return "text"


def rendered(help_text: str) -> str:
    """Return the data file: one flag a line."""
    lines = [f"{json.dumps(name)}: {json.dumps(entry)}" for name, entry in flags(help_text).items()]
    head = {"version": VERSION, "source": f"vllm serve --help=all of vLLM {VERSION}"}
    opening = json.dumps(head, indent=1)[:-2]
    return opening + ',\n "flags": {\n  ' + ",\n  ".join(lines) + "\n }\n}\n"


if __name__ == "__main__":
    given = Path(sys.argv[1]) if len(sys.argv) > 1 else HELP_TEXT
    DATA_FILE.write_text(rendered(given.read_text(encoding="utf-8")), encoding="utf-8")
