"""Compiles the simulation with numba where it is installed; the code is the same without."""

from collections.abc import Callable
from types import ModuleType
from typing import Any, TypeVar

_Function = TypeVar("_Function", bound=Callable[..., object])


def _cache_directory() -> str:
    """Return a folder of this version of the code.

    numba's own cache notices a change of a function, but not of the functions that it calls.
    """
    import hashlib
    import os
    from pathlib import Path

    here = Path(__file__).parent
    sources = [*sorted(here.glob("*.py")), here.parent / "step_time.py", here.parent / "memory.py"]
    digest = hashlib.sha256(b"".join(source.read_bytes() for source in sources)).hexdigest()[:16]
    base = os.environ.get("XDG_CACHE_HOME") or str(Path.home() / ".cache")
    return str(Path(base) / "hyperpod-dpd" / f"simulation-{digest}")


def _numba() -> ModuleType | None:
    """Return numba; without it the simulation is slower by two orders of magnitude."""
    try:
        import numba
    except ImportError:
        return None
    settings: Any = numba.config
    if not settings.CACHE_DIR:
        settings.CACHE_DIR = _cache_directory()
    return numba


_NUMBA = _numba()


def compiled(function: _Function) -> _Function:
    """Return `function` compiled; `fastmath` stays off, so every machine computes the same."""
    if _NUMBA is None:
        return function
    # Nothing here allocates, and counting references to arrays at every call would take nine
    # tenths of the time. The switch is private to numba, so do without it where it is unknown.
    for options in ({"cache": True, "_nrt": False}, {"cache": True}, {}):
        try:
            compiled_function: _Function = _NUMBA.njit(**options)(function)
        except (KeyError, RuntimeError):  # no such switch, or no folder for the cache
            continue
        return compiled_function
    return function
