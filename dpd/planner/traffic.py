"""Traffic profiles and latency targets: what a person writes in `traffic.yaml`."""

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Self

from pydantic import BeforeValidator, Field, ValidationError, model_validator

from dpd.config.base import Config
from dpd.config.report import validate
from dpd.config.source import read_source
from dpd.config.units import Seconds, second_range
from dpd.planner.trace import Trace, read_lengths, read_trace

Tokens = Annotated[int, Field(ge=1)]
Share = Annotated[float, Field(ge=0, le=1)]
_MOST_REQUESTS_PER_SECOND = 100_000
_MOST_USERS = 100_000


class Lognormal(Config):
    """Lengths whose logarithm is normal."""

    median: Tokens
    """Half of the lengths lie below this number of tokens."""
    sigma: Annotated[float, Field(ge=0, le=3)]
    """Standard deviation of the logarithm: 0.5 is narrow, 1.2 is wide."""


class Measured(Config):
    """Lengths drawn from a file with one number of tokens a line."""

    file: str
    """Path, relative to the traffic file."""


class Fixed(Config):
    """One length for all; written as a plain number."""

    tokens: Tokens


def _length(value: Any) -> Any:
    """Return the kind of length that the keys tell; one message instead of three kinds' worth."""
    if isinstance(value, Fixed | Lognormal | Measured):
        return value
    kind: type[Config] = Fixed
    if isinstance(value, dict):
        kind = Measured if "file" in value else Lognormal
    try:
        return kind.model_validate({"tokens": value} if kind is Fixed else value)
    except ValidationError:
        raise ValueError(
            "a number of tokens from 1 up, {median: 2700, sigma: 0.8} or {file: lengths.txt}"
        ) from None


Length = Annotated[Fixed | Lognormal | Measured, BeforeValidator(_length)]


class TrafficClass(Config):
    """One kind of request in the mix."""

    share: Annotated[float, Field(gt=0, le=1e6)] = 1.0
    """Share of the requests; the shares of all classes are scaled to 1."""
    input: Length
    """Prompt tokens: a number, `{median, sigma}` or `{file}`."""
    output: Length
    """Answer tokens, in the same forms."""
    shared_prefix: Share = 0.0
    """Share of the prompt that all requests of the class begin with: in the prefix cache."""


Duration = Annotated[Seconds, second_range("0.1ms", "24h")]


class Percentiles(Config):
    """Limits of one latency, by percentile."""

    p50: Duration | None = None
    p90: Duration | None = None
    p95: Duration | None = None
    p99: Duration | None = None

    def limits(self) -> list[tuple[float, float]]:
        """Return (share, seconds) of every limit that is set."""
        given = [(0.5, self.p50), (0.9, self.p90), (0.95, self.p95), (0.99, self.p99)]
        return [(share, seconds) for share, seconds in given if seconds is not None]


def _limits(value: Any) -> Any:
    """Return limits by percentile; a plain duration is one of the 95th."""
    if isinstance(value, str):
        return {"p95": value}
    if isinstance(value, Percentiles) or (isinstance(value, Mapping) and value):
        return value
    raise ValueError("a duration such as 2s, or limits such as {p50: 500ms, p99: 2s}")


Limit = Annotated[Percentiles, BeforeValidator(_limits)]


class Targets(Config):
    """Latency limits; a plain `2s` limits the 95th percentile."""

    ttft: Limit = Percentiles()
    """Time to first token."""
    itl: Limit = Percentiles()
    """Inter-token latency: the mean over one request, as load generators report it."""
    e2e: Annotated[Limit, Field(alias="e2e")] = Percentiles()  # else the key would be `e2E`
    """From the request to its last token."""


class TrafficProfile(Config):
    """Requests of an endpoint: how they arrive, how long they are, what is asked of them."""

    rate: Annotated[float, Field(gt=0, le=_MOST_REQUESTS_PER_SECOND)] | None = None
    """Requests per second, Poisson arrivals."""
    concurrency: Annotated[int, Field(ge=1, le=_MOST_USERS)] | None = None
    """Closed loop: so many users, each with one request at a time."""
    trace: str | None = None
    """Recorded requests: CSV or JSONL with arrival (seconds), input and output (tokens)."""
    classes: Annotated[tuple[TrafficClass, ...], Field(strict=False)] = ()
    targets: Targets = Targets()

    @model_validator(mode="after")
    def _has_one_kind_of_arrivals(self) -> Self:
        given = [self.rate, self.concurrency, self.trace]
        if sum(value is not None for value in given) != 1:
            raise ValueError("exactly one of rate, concurrency and trace")
        if (self.trace is None) == (not self.classes):
            raise ValueError("classes with rate or concurrency, none with trace")
        return self


class Traffic:
    """A profile with the files it names, and a load factor on its arrivals."""

    def __init__(
        self,
        profile: TrafficProfile,
        *,
        folder: Path = Path(),
        load: float = 1.0,
        _read: tuple[Trace | None, dict[str, list[int]]] | None = None,
    ) -> None:
        """Read the profile's files, relative to `folder`.

        Raises:
            UserError: a file cannot be read, or a line of it is broken.
        """
        self.profile = profile
        self.load = load
        self._folder = folder
        self.trace, self.lengths = _read or (None, {})
        if _read is None:
            if profile.trace is not None:
                self.trace = read_trace(folder / profile.trace)
            lengths = [side for c in profile.classes for side in (c.input, c.output)]
            for length in lengths:
                if isinstance(length, Measured) and length.file not in self.lengths:
                    self.lengths[length.file] = read_lengths(folder / length.file)

    def scaled(self, load: float) -> "Traffic":
        """Return the same traffic at `load` times the profile's arrivals."""
        read = (self.trace, self.lengths)
        return Traffic(self.profile, folder=self._folder, load=load, _read=read)

    @property
    def users(self) -> int:
        """Users of a closed loop; 0 under open arrivals."""
        concurrency = self.profile.concurrency
        return max(1, round(concurrency * self.load)) if concurrency else 0


def read_traffic(path: Path) -> Traffic:
    """Return the traffic that a file describes; `UserError` names the line of a mistake."""
    profile = validate(TrafficProfile, read_source(path))
    return Traffic(profile, folder=path.parent)
