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
        arguments = _parser(words).parse_args(words)
        status: int = arguments.run(arguments)
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
        # Whoever read the output has gone; what is left in the buffer must not be tried again.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 141


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
    commands = parser.add_subparsers(metavar="COMMAND", required=True, parser_class=_Parser)
    # A command's module is imported when it is called, all of them only for the list of commands.
    called = next((word for word in words if word in _MODULES), None)
    modules = [_MODULES[called]] if called else list(dict.fromkeys(_MODULES.values()))
    for name in modules:
        import_module(name).add_parser(commands)
    return parser


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
