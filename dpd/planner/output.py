"""Files that a plan is written to: tried before the search, replaced whole."""

import os
import stat
import tempfile
from pathlib import Path

from dpd.errors import UserError


def refuse_unwritable(path: Path) -> None:
    """Raise a `UserError` where a file can surely not be written."""
    if path.is_dir():
        raise UserError(f"{path}: is a folder; give a file")
    if not path.parent.is_dir():
        raise UserError(f"{path}: there is no folder {path.parent}; make it first")
    place = path if path.exists() and not path.is_file() else path.resolve().parent
    if not os.access(place, os.W_OK) or (path.is_file() and not os.access(path, os.W_OK)):
        raise UserError(f"{path}: may not be written")


def replace_file(path: Path, content: bytes) -> None:
    """Write a file at once or not at all; its mode stays, and so does a link to it.

    Raises:
        UserError: it cannot be written.
    """
    try:
        if path.exists() and not path.is_file():  # a device or a pipe
            path.write_bytes(content)
            return
        _replace(path.resolve(), content)
    except OSError as error:
        raise UserError(f"{path}: cannot be written: {error.strerror}") from None


def _replace(path: Path, content: bytes) -> None:
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name[:100]}.")
    temporary = Path(name)
    try:
        with os.fdopen(handle, "wb") as stream:
            stream.write(content)
        mode = stat.S_IMODE(path.stat().st_mode) if path.exists() else 0o666 & ~_umask()
        temporary.chmod(mode)
        temporary.replace(path)
    except BaseException:
        temporary.unlink()
        raise


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
