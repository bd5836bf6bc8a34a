"""Asks NVIDIA AIConfigurator; runs under the Python that has it and imports nothing of ours.

Reads a JSON list of questions from standard input, writes a JSON list of answers in seconds.
"""

import json
import logging
import sys
import warnings
from typing import Any

VERSION = "0.12.0"


def main() -> None:
    """Answer every question; an answer that AIConfigurator does not have is an error text."""
    warnings.filterwarnings("ignore")  # every call says that the package is deprecated
    logging.disable(logging.CRITICAL)
    from importlib.metadata import version

    if (found := version("aiconfigurator")) != VERSION:
        raise SystemExit(f"aiconfigurator {found} is installed; needed: {VERSION}")
    from aiconfigurator.cli.api import cli_estimate  # type: ignore[import-not-found]

    answers: list[dict[str, Any]] = []
    for question in json.load(sys.stdin):
        try:
            answers.append(_answer(cli_estimate, question))
        except Exception as error:  # the library raises whatever its tables lack
            answers.append({"error": f"{type(error).__name__}: {error}"})
    json.dump(answers, sys.stdout)


def _answer(estimate: Any, question: dict[str, Any]) -> dict[str, float]:
    mode, tokens, sequences = question["mode"], question["input"], question["sequences"]
    arguments = {
        "model_path": question["model"],
        "system_name": question["system"],
        "backend_name": "vllm",
        "mode": mode,
        "isl": tokens,
        "osl": question["output"],
        "tp_size": question["tensorParallel"],
        "batch_size": sequences,
    }
    if question["weights"] == "fp8":
        arguments |= {"gemm_quant_mode": "fp8_static", "kvcache_quant_mode": "fp8"}
    if mode == "disagg":
        arguments |= {
            "prefill_batch_size": 1,
            "prefill_num_workers": 1,
            "decode_batch_size": sequences,
            "decode_num_workers": 1,
        }
    found = estimate(**arguments)
    return {
        "ttft": found.ttft / 1000,
        "itl": found.tpot / 1000,
        "tokenRate": float(found.raw["tokens/s"]),
    }


if __name__ == "__main__":
    main()
