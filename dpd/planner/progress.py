"""A line on the terminal that says what is being simulated, once it takes over a second."""

import sys
import time
from typing import TextIO

_WIDTH = 24
_WAIT_SECONDS = 1.0
_TYPICAL_STEPS = 40


class ProgressBar:
    """Counts steps; draws nothing where the output is not a terminal."""

    def __init__(self, *, stream: TextIO | None = None) -> None:
        """Draw on standard error unless told otherwise."""
        self._stream = stream or sys.stderr
        self._started = time.monotonic()
        self._steps = 0
        self._is_drawn = False

    def __call__(self, what: str) -> None:
        """Say what begins now."""
        self._steps += 1
        late = time.monotonic() - self._started > _WAIT_SECONDS
        if not self._stream.isatty() or not late:
            return
        # The number of steps is not known before the search ends: the bar nears its end only.
        filled = round(_WIDTH * self._steps / (self._steps + _TYPICAL_STEPS / 2))
        bar = "#" * filled + "." * (_WIDTH - filled)
        self._stream.write(f"\r\033[K[{bar}] {self._steps} {what[:60]}")
        self._stream.flush()
        self._is_drawn = True

    def done(self) -> None:
        """Remove the bar."""
        if self._is_drawn:
            self._stream.write("\r\033[K")
            self._stream.flush()
