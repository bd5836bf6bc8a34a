"""The answer as one page with plots; it loads nothing from anywhere."""

from html import escape

from dpd.planner.curves import Curves
from dpd.planner.evaluate import Outcome
from dpd.planner.report_text import assumptions, rows
from dpd.planner.svg import Line, line_chart
from dpd.planner.verdict import Answer

_STYLE = """
:root { color-scheme: light dark; }
body { font: 15px/1.5 system-ui, sans-serif; max-width: 1120px; margin: 2rem auto; }
body { padding: 0 1rem; }
h1 { font-size: 1.5rem; } h2 { font-size: 1.1rem; margin-top: 2rem; }
table { border-collapse: collapse; } td, th { padding: .25rem .8rem; text-align: left; }
tr { border-bottom: 1px solid #8884; } td:not(:first-child) { font-variant-numeric: tabular-nums; }
.plots { display: grid; grid-template-columns: repeat(auto-fit, minmax(440px, 1fr)); gap: 1rem; }
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
        for sweep, lines in (
            (
                load,
                [
                    Line("disaggregated", _series(sweeps.disaggregated, name, share)),
                    Line("colocated", _series(sweeps.colocated, name, share)),
                ],
            ),
            (
                "routing threshold, tokens",
                [Line("disaggregated", _series(sweeps.thresholds, name, share))],
            ),
        ):
            title = f"p{share * 100:g} {label}"
            unit = None if limit is None else limit * 1000
            charts.append(line_chart(title, lines, x=sweep, y="ms", limit=unit))
    busy = [
        Line("prefill", tuple((x, o.result.prefill_utilization) for x, o in sweeps.disaggregated)),
        Line("decode", tuple((x, o.result.decode_utilization) for x, o in sweeps.disaggregated)),
        Line("colocated", tuple((x, o.result.decode_utilization) for x, o in sweeps.colocated)),
    ]
    charts.append(line_chart("utilization", busy, x=load, y="busy share"))
    return charts


def _series(
    points: tuple[tuple[float, Outcome], ...], name: str, share: float
) -> tuple[tuple[float, float], ...]:
    return tuple((x, getattr(o.result, name).at(share) * 1000) for x, o in points)


def _table(table: list[list[str]]) -> str:
    head = "".join(f"<th>{escape(cell)}</th>" for cell in table[0])
    body = "".join(
        "<tr>" + "".join(f"<td>{escape(cell)}</td>" for cell in row) + "</tr>" for row in table[1:]
    )
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def _section(title: str, lines: list[str]) -> str:
    items = "".join(f"<li>{escape(line)}</li>" for line in lines)
    return f"<h2>{escape(title)}</h2><ul>{items}</ul>"
