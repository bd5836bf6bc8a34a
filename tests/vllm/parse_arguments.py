"""Runs inside an environment that has vLLM: parses argument lists given as JSON on stdin.

Prints one JSON list: for each argument list null, or the message with which vLLM refuses it.
"""

import contextlib
import io
import json
import sys

from vllm.entrypoints.openai.cli_args import make_arg_parser, validate_parsed_serve_args
from vllm.utils.argparse_utils import FlexibleArgumentParser


def main() -> None:
    """Parse what `vllm serve` would."""
    parser = make_arg_parser(FlexibleArgumentParser(prog="vllm serve"))
    messages = [_refusal(parser, arguments) for arguments in json.load(sys.stdin)]
    print(json.dumps(messages))


def _refusal(parser: FlexibleArgumentParser, arguments: list[str]) -> str | None:
    said = io.StringIO()
    try:
        with contextlib.redirect_stderr(said):
            validate_parsed_serve_args(parser.parse_args(arguments))
    except SystemExit:
        return said.getvalue().strip().splitlines()[-1]
    except (TypeError, ValueError) as error:
        return str(error)
    return None


if __name__ == "__main__":
    main()
