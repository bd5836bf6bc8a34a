"""The environment variables that LMCache reads."""

import json
from collections.abc import Mapping
from functools import cache
from pathlib import Path

_DATA_FILE = Path(__file__).with_name("lmcache_variables.json")


@cache
def lmcache_variables() -> frozenset[str]:
    """Return the names of LMCache 0.4.3's variables, which the data file tells the source of."""
    data: Mapping[str, list[str]] = json.loads(_DATA_FILE.read_text(encoding="utf-8"))
    names = (*data["settings"], *data["aliases"], *data["others"])
    return frozenset(f"LMCACHE_{name.upper()}" for name in names)
