"""How long an endpoint may take until it answers.

The provider's own timeout tells CloudFormation that it is over, but not what was waited for.
"""

from collections.abc import Mapping
from typing import Any

from failure import Failure, NotYet

_STARTED_AT = "StartedAt"


def start(now_seconds: float) -> dict[str, str]:
    """Return what the provider shall show to every later look: when the first one was."""
    return {_STARTED_AT: str(int(now_seconds))}


def require_time_left(
    event: Mapping[str, Any], reason: NotYet, *, endpoint: object, now_seconds: float
) -> None:
    """Give up once the property `TimeoutSeconds` has passed since `start`.

    Args:
        event: As the provider asks `is_complete`, with what `start` returned as `Data`.
        reason: What is still waited for.
        endpoint: Whose name is said.
        now_seconds: Unix time.

    Raises:
        Failure: How long was waited, and for what.
    """
    properties = event["ResourceProperties"]
    waited_seconds = int(now_seconds) - _started_at_seconds(event, default=int(now_seconds))
    if waited_seconds >= int(properties["TimeoutSeconds"]):
        raise Failure(
            f"{endpoint} is not ready after {_in_words(waited_seconds)}: {reason}",
            remedy=properties["LogHint"],
        )


def _started_at_seconds(event: Mapping[str, Any], *, default: int) -> int:
    # Without a start the provider's own timeout still ends the wait.
    try:
        return int(event["Data"][_STARTED_AT])
    except (KeyError, TypeError, ValueError, OverflowError):
        return default


def _in_words(seconds: int) -> str:
    return f"{seconds // 60} minutes" if seconds >= 120 else f"{seconds} seconds"
