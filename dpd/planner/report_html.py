"""The answer as one page with plots; it loads nothing from anywhere."""

from html import escape

from dpd.planner.curves import Curves
from dpd.planner.evaluate import Outcome
from dpd.planner.report_text import DISAGGREGATED, assumptions, rows
from dpd.planner.svg import Line, line_chart
from dpd.planner.verdict import Answer

_STYLE = """
:root { color-scheme: light dark; }
body { font: 15px/1.5 system-ui, sans-serif; max-width: 1120px; margin: 2rem auto; }
body { padding: 0 1rem; }
h1 { font-size: 1.5rem; } h2 { font-size: 1.1rem; margin-top: 2rem; }
.table { overflow-x: auto; }
table { border-collapse: collapse; }
td, th { padding: .25rem .8rem; text-align: left; white-space: nowrap; }
tr { border-bottom: 1px solid #8884; } td:not(:first-child) { font-variant-numeric: tabular-nums; }
.plots { display: grid; gap: 1rem; }
.plots { grid-template-columns: repeat(auto-fit, minmax(min(440px, 100%), 1fr)); }
svg { width: 100%; height: auto; } svg text { fill: currentColor; }
.grid { stroke: #8883; } .limit { stroke: #cf222e; stroke-dasharray: 5 4; }
"""


def page(answer: Answer, sweeps: Curves) -> str:
    """Return a complete HTML document."""
    question = answer.question
    title = f"{question.model.title} on {question.instance.name}: {answer.verdict}"
    return "\n".join(
        [
            '<!doctype html><html lang="en"><head><meta charset="utf-8">',
            '<meta name="viewport" content="width=device-width, initial-scale=1">',
            f"<title>{escape(title)}</title><style>{_STYLE}</style></head><body>",
            f"<h1>{escape(title)}</h1><p>{escape(answer.chosen.plan.describe())}</p>",
            _table(rows(answer)),
            f'<h2>Plots</h2><div class="plots">{"".join(_plots(answer, sweeps))}</div>',
            _section("Why", list(answer.reasons)),
            _section(
                "AWS's conditions for disaggregation",
                [f"{'yes' if c.is_met else 'no'}: {c.text} ({c.value})" for c in answer.conditions],
            ),
            _section("How sure", list(answer.confidence)),
            _section("Assumptions", assumptions(question)),
            "</body></html>\n",
        ]
    )


def _plots(answer: Answer, sweeps: Curves) -> list[str]:
    targets = answer.question.targets
    load = "load, in units of the traffic profile"
    charts = []
    for name, label, limits in (
        ("ttft", "time to first token", targets.ttft.limits()),
        ("itl", "inter-token latency", targets.itl.limits()),
    ):
        share, limit = max(limits) if limits else (0.95, None)
        for by, sweep, lines in (
            (
                "load",
                load,
                [
                    Line(DISAGGREGATED, _series(sweeps.disaggregated, name, share)),
                    Line(sweeps.colocated_name, _series(sweeps.colocated, name, share)),
                ],
            ),
            (
                "routing threshold",
                "routing threshold, tokens",
                [Line(DISAGGREGATED, _series(sweeps.thresholds, name, share))],
            ),
        ):
            title = f"p{share * 100:g} {label} by {by}"
            unit = None if limit is None else limit * 1000
            charts.append(line_chart(title, lines, x=sweep, y="ms", limit=unit))
    one, other = sweeps.disaggregated, sweeps.colocated
    busy = [
        Line(f"{DISAGGREGATED}, prefill", _shares(one, "prefill_utilization")),
        Line(f"{DISAGGREGATED}, decode", _shares(one, "decode_utilization")),
        Line(sweeps.colocated_name, _shares(other, "decode_utilization")),
    ]
    charts.append(line_chart("time in which workers are busy by load", busy, x=load, y="%"))
    # A decode worker is busy as soon as it has one request: how full it is says more.
    for label, name in (("places in the batch", "batch"), ("KV cache", "kv")):
        filled = [
            Line(DISAGGREGATED, _shares(one, f"decode_{name}_fill")),
            Line(sweeps.colocated_name, _shares(other, f"decode_{name}_fill")),
        ]
        charts.append(line_chart(f"{label} of decode taken by load", filled, x=load, y="%"))
    return charts


def _series(
    points: tuple[tuple[float, Outcome], ...], name: str, share: float
) -> tuple[tuple[float, float], ...]:
    return tuple((x, getattr(o.result, name).at(share) * 1000) for x, o in points)


def _shares(
    points: tuple[tuple[float, Outcome], ...], name: str
) -> tuple[tuple[float, float], ...]:
    return tuple((x, getattr(o.result, name) * 100) for x, o in points)


def _table(table: list[list[str]]) -> str:
    head = "".join(f"<th>{escape(cell)}</th>" for cell in table[0])
    body = "".join(
        "<tr>" + "".join(f"<td>{escape(cell)}</td>" for cell in row) + "</tr>" for row in table[1:]
    )
    inside = f"<thead><tr>{head}</tr></thead><tbody>{body}</tbody>"
    return f'<div class="table"><table>{inside}</table></div>'


def _section(title: str, lines: list[str]) -> str:
    items = "".join(f"<li>{escape(line)}</li>" for line in lines)
    return f"<h2>{escape(title)}</h2><ul>{items}</ul>"
