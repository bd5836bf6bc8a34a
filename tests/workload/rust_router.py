"""How tests start the real vllm-router with the arguments of its container.

Only what one machine cannot give is changed: ports that may be taken, and the Kubernetes API,
which is a stand-in that knows the pods and their labels. Where discovery is replaced by
addresses, everything else of the command line stays.
"""

import shutil
import sys
from collections.abc import Sequence
from pathlib import Path

DISCOVERY = {
    "--service-discovery": 0,
    "--service-discovery-namespace": 1,
    "--service-discovery-port": 1,
    "--prefill-selector": 2,
    "--decode-selector": 2,
}
"""Options that addresses replace, and how many words follow each."""


def command(arguments: Sequence[str], **replaced: int) -> list[str]:
    """The program with its arguments, some ports replaced by free ones."""
    program = shutil.which("vllm-router", path=str(Path(sys.executable).parent))
    assert program, "vllm-router is in requirements-dev.txt; run `make setup`"
    return [program, *with_ports(arguments, **replaced)]


def with_ports(arguments: Sequence[str], **replaced: int) -> list[str]:
    """The same arguments with other ports behind some options."""
    words = list(arguments)
    for option, port in replaced.items():
        words[words.index("--" + option.replace("_", "-")) + 1] = str(port)
    return words


def with_addresses(arguments: Sequence[str], prefill: list[str], decode: list[str]) -> list[str]:
    """The same arguments with addresses in place of discovery."""
    words = iter(arguments)
    kept = []
    for word in words:
        if word in DISCOVERY:
            for _ in range(DISCOVERY[word]):
                next(words)
        else:
            kept.append(word)
    for url in prefill:
        kept += ["--prefill", url]
    for url in decode:
        kept += ["--decode", url]
    return kept
