"""Traffic profiles, recorded traces, and the requests drawn from them."""

from pathlib import Path

import numpy as np
import pytest

from dpd.errors import UserError
from dpd.planner.sampling import BLOCK, Arrivals, arrivals
from dpd.planner.trace import read_trace
from dpd.planner.traffic import Traffic, TrafficProfile, read_traffic

PROFILE = """\
rate: 5
classes:
  - {share: 3, input: {median: 2700, sigma: 0.8}, output: 200, sharedPrefix: 0.25}
  - {share: 1, input: {file: lengths.txt}, output: {median: 50, sigma: 0.5}}
targets:
  ttft: {p50: 500ms, p99: 2s}
  itl: 30ms
"""


def draw(traffic: Traffic, requests: int = 20_000, limit: int = 16_384) -> Arrivals:
    blocks = list(arrivals(traffic, requests=requests, seed=0, max_model_len=limit))
    assert all(len(block.times) <= BLOCK for block in blocks)
    return Arrivals(*(np.concatenate(column) for column in zip(*blocks, strict=True)))


@pytest.fixture
def profile(tmp_path: Path) -> Path:
    (tmp_path / "lengths.txt").write_text("100\n200\n\n900\n")
    path = tmp_path / "traffic.yaml"
    path.write_text(PROFILE)
    return path


def test_a_mix_has_the_shares_and_lengths_of_its_classes(profile: Path) -> None:
    """A quarter comes from the file; the lognormal's median is the one given."""
    drawn = draw(read_traffic(profile))
    measured = np.isin(drawn.inputs, [100, 200, 900]) & (drawn.outputs != 200)
    assert measured.mean() == pytest.approx(0.25, abs=0.01)
    assert np.median(drawn.inputs[~measured]) == pytest.approx(2700, rel=0.03)
    logs = np.log(drawn.inputs[~measured])
    assert logs.std() == pytest.approx(0.8, rel=0.05)


def test_arrivals_are_poisson(profile: Path) -> None:
    """Mean and standard deviation of the gaps are 1 / rate."""
    gaps = np.diff(draw(read_traffic(profile)).times)
    assert gaps.mean() == pytest.approx(0.2, rel=0.03)
    assert gaps.std() == pytest.approx(0.2, rel=0.03)


def test_load_scales_the_rate_only(profile: Path) -> None:
    """Twice the load is the same requests in half the time."""
    traffic = read_traffic(profile)
    once, twice = draw(traffic), draw(traffic.scaled(2))
    assert (once.inputs == twice.inputs).all()
    assert once.times == pytest.approx(2 * twice.times)


def test_shared_prefixes_are_cached_in_whole_blocks(profile: Path) -> None:
    """A quarter of the prompt, in blocks of 16, and never the whole prompt."""
    drawn = draw(read_traffic(profile))
    prefixed = drawn.cached > 0
    assert (drawn.cached % 16 == 0).all()
    assert (drawn.cached[prefixed] <= drawn.inputs[prefixed] * 0.25).all()
    whole = TrafficProfile.model_validate(
        {"rate": 1, "classes": [{"input": 64, "output": 8, "sharedPrefix": 1}]}
    )
    assert (draw(Traffic(whole), 10).cached == 63).all()


def test_requests_are_cut_to_what_the_model_accepts(profile: Path) -> None:
    """Prompt and answer together stay within the limit."""
    drawn = draw(read_traffic(profile), limit=1000)
    assert (drawn.inputs + drawn.outputs).max() == 1000
    assert drawn.outputs.min() >= 1


def test_a_closed_loop_starts_its_users_and_then_waits_for_them() -> None:
    """Times are 0 for the first requests and open for the others, across blocks."""
    kind = {"input": 10, "output": 10}
    traffic = Traffic(TrafficProfile.model_validate({"concurrency": 5, "classes": [kind]}))
    times = draw(traffic, BLOCK + 10).times
    assert (times[:5] == 0).all()
    assert np.isinf(times[5:]).all()


@pytest.mark.parametrize("name", ["trace.csv", "trace.jsonl"])
def test_a_trace_is_replayed(tmp_path: Path, name: str) -> None:
    """Both formats give the same requests, from time 0."""
    path = tmp_path / name
    path.write_text(
        "arrival,input,output\n10.5,100,20\n11,200,30\n"
        if name.endswith("csv")
        else '{"arrival": 10.5, "input": 100, "output": 20}\n\n'
        '{"arrival": 11, "input": 200, "output": 30}\n'
    )
    drawn = draw(Traffic(TrafficProfile(trace=name), folder=tmp_path), 100)
    assert drawn.times.tolist() == [0, 0.5]
    assert drawn.inputs.tolist() == [100, 200]
    assert drawn.outputs.tolist() == [20, 30]


@pytest.mark.parametrize(
    ("content", "line", "says"),
    [
        ("arrival,input\n0,1\n", 1, "no column output"),
        ("arrival,input,output\n0,1,1\n1,x,1\n", 3, "input is 'x'"),
        ("arrival,input,output\n0,1,1\n1,5\n", 3, "2 values under 3 columns"),
        ("arrival,input,output\n5,1,1\n\n4,1,1\n", 4, "before 5; sort the trace"),
        ("arrival,input,output\n0,1,0\n", 2, "output is '0'"),
        ("arrival,input,output\n0,1.5,1\n", 2, "a whole number of tokens"),
        ("arrival,input,output\nnan,1,1\n", 2, "arrival is 'nan'"),
        ("arrival,input,input,output\n", 1, "stands twice in the header"),
        (f"arrival,input,output\n0,1,{'1' * 131_073}\n", 2, "not CSV: field larger than"),
    ],
    ids=["header", "text", "short", "order", "zero", "fraction", "nan", "twice", "long"],
)
def test_a_broken_line_is_named(tmp_path: Path, content: str, line: int, says: str) -> None:
    """One line: file, line number, what is wrong."""
    path = tmp_path / "trace.csv"
    path.write_text(content)
    with pytest.raises(UserError) as error:
        read_trace(path)
    assert str(error.value).startswith(f"{path}:{line}: ")
    assert says in str(error.value)
    assert len(error.value.lines) == 1


def test_a_byte_order_mark_is_no_part_of_the_header(tmp_path: Path) -> None:
    """Spreadsheets write one."""
    path = tmp_path / "trace.csv"
    path.write_text("arrival,input,output\n0,1,1\n1,1,1\n", encoding="utf-8-sig")
    assert len(read_trace(path).arrivals) == 2


def test_a_trace_takes_time(tmp_path: Path) -> None:
    """Without any there is no rate."""
    path = tmp_path / "trace.csv"
    path.write_text("arrival,input,output\n" + "7,1,1\n" * 3)
    with pytest.raises(UserError, match="all 3 requests arrive at 7 s"):
        read_trace(path)


@pytest.mark.parametrize(
    ("row", "says"),
    [
        ("[" * 100_000, "nested too deep"),
        ('{"arrival": 1e400, "input": 1, "output": 1}', "arrival is inf"),
        ('{"arrival": 1' + "0" * 400 + ', "input": 1, "output": 1}', "arrival is 1"),
        ('{"input": 1, "output": 1}', "arrival is missing"),
    ],
    ids=["deep", "infinite", "large", "missing"],
)
def test_odd_json_is_named(tmp_path: Path, row: str, says: str) -> None:
    """One line, and not a long one."""
    path = tmp_path / "trace.jsonl"
    path.write_text(row)
    with pytest.raises(UserError) as error:
        read_trace(path)
    assert says in str(error.value)
    assert len(str(error.value)) < len(str(path)) + 200


def test_broken_json_is_named(tmp_path: Path) -> None:
    """The line of the syntax error in a JSONL trace."""
    path = tmp_path / "trace.jsonl"
    path.write_text('{"arrival": 0, "input": 1, "output": 1}\n{"arrival": 1, \n')
    with pytest.raises(UserError, match=r"trace\.jsonl:2: not JSON"):
        read_trace(path)


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        ("rate: 5", "rate: 5\nconcurrency: 3", "exactly one of rate, concurrency and trace"),
        ("itl: 30ms", "itl: 30", "targets.itl: given 30; allowed: a duration such as 2s"),
        ("itl: 30ms", "itl: {}", "targets.itl: given a mapping; allowed: a duration"),
        ("itl: 30ms", "itl: 0ms", "targets.itl.p95: given '0ms'; allowed: 0.1ms to 24h"),
        ("rate: 5", "rate: five", "rate: given 'five'; allowed: a number"),
        ("share: 3", "shares: 3", "unknown key"),
        ("lengths.txt", "none.txt", "none.txt: cannot be read"),
    ],
    ids=["arrivals", "unit", "empty", "zero", "text", "key", "file"],
)
def test_mistakes_in_a_profile_are_one_line(profile: Path, old: str, new: str, says: str) -> None:
    """No traceback."""
    profile.write_text(PROFILE.replace(old, new))
    with pytest.raises(UserError) as error:
        read_traffic(profile)
    assert says in str(error.value)
