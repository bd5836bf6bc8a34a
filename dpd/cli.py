"""The `dpd` command."""

import argparse
import gc
import os
import re
import sys
from collections.abc import Sequence
from importlib import import_module
from typing import NoReturn

from dpd.errors import UserError, nearest

_MODULES = {
    "check": "dpd.rules.command",
    "rules": "dpd.rules.command",
    "explain": "dpd.rules.command",
    "plan": "dpd.planner.command",
}
"""Module that registers a command, by its name."""


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command; return its exit status."""
    if argv is None:
        # A process of tenths of a second: plugins and collecting garbage would only cost time.
        os.environ.setdefault("PYDANTIC_DISABLE_PLUGINS", "__all__")
        gc.disable()
    words = list(sys.argv[1:] if argv is None else argv)
    try:
        try:
            arguments = _parser(words).parse_args(words)
            status: int = arguments.run(arguments)
        finally:  # also after `--help`, which ends in SystemExit
            if sys.stdout:
                sys.stdout.flush()
        return status
    except UserError as error:
        for line in error.lines:
            print(f"error: {line}", file=sys.stderr)
        return error.exit_code
    except KeyboardInterrupt:
        print("interrupted", file=sys.stderr)
        return 130
    except BrokenPipeError:
        _forget_output()  # Whoever read it has gone.
        return 141
    except OSError as error:
        _forget_output()
        what = "the output" if error.filename is None else error.filename
        print(f"error: {what}: cannot be written or read: {error.strerror}", file=sys.stderr)
        return 2


def _forget_output() -> None:
    """Drop what is left in the buffer if it cannot be written, or Python tries again at its end."""
    try:
        sys.stdout.flush()
    except OSError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


class _Parser(argparse.ArgumentParser):
    """Names the nearest right word when one is wrong."""

    def error(self, message: str) -> NoReturn:
        """Print the usage and one line, and exit with status 2."""
        wrong = re.search(r"invalid choice: '([^']*)' \(choose from (.*)\)", message)
        if wrong:
            message = f"{wrong[1]!r} is none of {wrong[2]}".replace("'", "")
            near = nearest(wrong[1], re.findall(r"[\w-]+", wrong[2]))
            message += f"; did you mean {near}?" if near else ""
        elif unknown := re.search(r"unrecognized arguments: (-\S+)", message):
            near = nearest(unknown[1].split("=")[0], self.options())
            message = f"there is no {unknown[1]}" + (f"; did you mean {near}?" if near else "")
        self.print_usage(sys.stderr)
        print(f"error: {message}", file=sys.stderr)
        sys.exit(2)

    def options(self) -> list[str]:
        """Return the options of this parser and of its commands."""
        options = [word for action in self._actions for word in action.option_strings]
        for action in self._actions:
            if isinstance(action, argparse._SubParsersAction):
                for parser in action.choices.values():
                    options += parser.options()
        return [word for word in options if word.startswith("--")]


def _parser(words: Sequence[str]) -> _Parser:
    parser = _Parser(prog="dpd", description="Disaggregated serving on SageMaker HyperPod.")
    parser.add_argument("--version", action=_Version)
    parser.set_defaults(errors_in=errors_in)
    commands = parser.add_subparsers(metavar="COMMAND", required=True, parser_class=_Parser)
    # A command's module is imported when it is called, all of them only for the list of commands.
    called = next((word for word in words if word in _MODULES), None)
    modules = [_MODULES[called]] if called else list(dict.fromkeys(_MODULES.values()))
    for name in modules:
        import_module(name).add_parser(commands)
    return parser


def errors_in(raw: bytes, name: str) -> dict[tuple[str, str], str]:
    """Return the errors in a file's content, by rule and path.

    For the planner, which lies below the rules and so does not know them.
    """
    from dpd.rules.check import check_text
    from dpd.rules.finding import Severity

    found = check_text(raw, name=name)
    return {(each.rule, each.path): str(each) for each in found if each.severity is Severity.ERROR}


class _Version(argparse.Action):
    """Prints the version; reading it takes longer than most commands, so only when asked."""

    def __init__(self, option_strings: list[str], dest: str) -> None:
        super().__init__(option_strings, dest, nargs=0, help="print the version")

    def __call__(self, parser: argparse.ArgumentParser, *_: object) -> None:
        from importlib.metadata import PackageNotFoundError, version

        try:
            print(f"dpd {version('hyperpod-dpd')}")
        except PackageNotFoundError:
            print("dpd (not installed)")
        parser.exit()


if __name__ == "__main__":
    sys.exit(main())
