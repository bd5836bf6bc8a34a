"""How a look can end without success: never, or not yet, each with words for a person."""

MAX_CHARACTERS = 1000
"""CloudFormation takes 4 KB for the whole answer, and its console shows far less in one row."""


class NotYet(Exception):  # noqa: N818 - a state of the endpoint, not a fault of ours
    """Waiting longer may help; the text says what is waited for."""


class Failure(Exception):  # noqa: N818 - a person reads this name in front of the text
    """Waiting longer would not help; one line that says what is wrong and what to do.

    CloudFormation shows it among the stack's events.
    """

    def __init__(self, problem: str, *, remedy: str) -> None:
        """Join both on one line; a long problem is cut short, what to do about it never is."""
        problem, remedy = " ".join(problem.split()), " ".join(remedy.split())
        room = max(0, MAX_CHARACTERS - len(remedy) - len("; "))
        if len(problem) > room:
            problem = f"{problem[: max(0, room - 3)]}..."
        super().__init__(f"{problem}; {remedy}")
