"""`dpd check`, `dpd rules` and `dpd explain`."""

import argparse
import json
import os
import re
import sys
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import TextIO

from dpd.errors import UserError, nearest

_COLOURS = {"error": "31", "warning": "33", "note": "36"}
_MAX_BYTES = 1_000_000


def add_parser(subparsers: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Register the three commands."""
    check = subparsers.add_parser(
        "check",
        help="say what is wrong with environment files and manifests",
        description="Exit status: 0 without errors, 1 with errors, 2 if a file cannot be read.",
    )
    check.add_argument(
        "paths", nargs="+", metavar="PATH", help="a YAML or JSON file, or - for stdin"
    )
    check.add_argument("--json", action="store_true", help="print a list of findings as JSON")
    check.add_argument(
        "--severity",
        choices=("error", "warning", "note"),
        default="note",
        help="show nothing milder than this (note)",
    )
    check.add_argument(
        "--ignore",
        action="append",
        default=[],
        metavar="ID",
        help="leave this rule out, such as DPD504; may be repeated",
    )
    check.set_defaults(run=run_check)
    rules = subparsers.add_parser("rules", help="list all rules")
    rules.add_argument("--json", action="store_true", help="print them as JSON")
    rules.set_defaults(run=run_rules)
    explain = subparsers.add_parser("explain", help="tell what a rule is about")
    explain.add_argument("id", metavar="ID", help="such as DPD504")
    explain.set_defaults(run=run_explain)


def run_check(arguments: argparse.Namespace) -> int:
    """Print the findings of all files; return the exit status."""
    from dpd.rules.check import check_file, check_text
    from dpd.rules.finding import Severity

    ignored = _known_ids(arguments.ignore)
    findings, unreadable = [], 0
    for path in arguments.paths:
        try:
            found = check_text(_stdin(), name="-") if path == "-" else check_file(Path(path))
        except UserError as error:
            unreadable += 1
            for line in error.lines:
                print(f"error: {line}", file=sys.stderr)
        else:
            findings += [each for each in found if each.rule not in ignored]
    most = Severity(arguments.severity).rank
    shown = [each for each in findings if each.severity.rank <= most]
    if arguments.json:
        print(json.dumps([each.to_json() for each in shown], indent=2))
    else:
        paint = _painter(sys.stdout)
        for each in shown:
            print(str(each).replace(f" {each.severity} ", f" {paint(each.severity)} ", 1))
        print(_summary([each.severity.value for each in shown], len(arguments.paths) - unreadable))
    if unreadable:
        return 2
    return 1 if any(each.severity is Severity.ERROR for each in findings) else 0


def run_rules(arguments: argparse.Namespace) -> int:
    """Print one line for each rule."""
    from dpd.rules.check import all_rules

    rules = all_rules()
    if arguments.json:
        keys = ("id", "severity", "family", "title", "source")
        print(json.dumps([{key: getattr(each, key) for key in keys} for each in rules], indent=2))
        return 0
    for each in rules:
        print(f"{each.id}  {each.severity:<7}  {each.family:<11}  {each.title}")
    return 0


def run_explain(arguments: argparse.Namespace) -> int:
    """Print all about one rule."""
    from dpd.rules.check import all_rules

    (id_,) = _known_ids([arguments.id])
    rule = next(each for each in all_rules() if each.id == id_)
    print(f"{rule.id} ({rule.severity}, {rule.family}): {rule.title}.")
    print(rule.explanation)
    print(f"Source: {rule.source}")
    return 0


def _known_ids(given: Sequence[str]) -> set[str]:
    """Return ids in capitals, from words that may hold several; `UserError` for an unknown one."""
    from dpd.rules.check import all_rules

    known = {rule.id for rule in all_rules()} if given else set()
    ids = {word.strip().upper() for text in given for word in text.split(",")}
    for id_ in sorted(ids - known):
        # A number names no other rule; what is no number may be a slip.
        near = None if re.fullmatch(r"DPD\d+", id_) else nearest(id_, known)
        hint = f"did you mean {near}?" if near else "`dpd rules` lists them"
        raise UserError(f"given {id_!r}, which is no rule; {hint}")
    return ids


def _stdin() -> bytes:
    raw = sys.stdin.buffer.read(_MAX_BYTES + 1)
    if len(raw) > _MAX_BYTES:
        raise UserError(f"-: larger than {_MAX_BYTES} bytes; is it the right file?")
    return raw


def _painter(stream: TextIO) -> "type[str] | _Paint":
    is_plain = not stream.isatty() or os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb"
    return str if is_plain else _Paint()


class _Paint:
    def __call__(self, severity: str) -> str:
        return f"\x1b[{_COLOURS[severity]}m{severity}\x1b[0m"


def _summary(severities: Sequence[str], files: int) -> str:
    counts = Counter(severities)
    parts = [_count(counts[name], name) for name in _COLOURS if counts[name]]
    return f"{', '.join(parts) or 'nothing found'} in {_count(files, 'file')}"


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}{'' if number == 1 else 's'}"
