"""``python -m benchmarks COMMAND``: the commands of the laboratory, each of which explains itself with ``--help``."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Mapping, Sequence

from counterfoil.cli.exits import show_error
from counterfoil_core.base.errors import CounterfoilError

COMMANDS: Mapping[str, tuple[str, str]] = {
    "steps": ("steps", "time, log and memory of a step in every form"),
    "check": ("steps", "whether the ratios of those times are as good as the stored ones"),
    "exact-training": ("steps", "a step under the exact profiles"),
    "exact-products": ("products", "matrix products of the exact profiles"),
    "profile": ("profile", "where the time of a step goes"),
    "growth": ("growth", "how cost grows with sizes"),
    "soak": ("growth", "very many steps: do memory, files and time stay flat?"),
    "window": ("window", "the pauses of the window's event loop"),
    "starts": ("starts", "what commands take before they do what they are for"),
    "sandbox": ("starts", "what the box costs a command"),
    "workers": ("workers", "what workers gain, and what a segment costs them"),
    "recording": ("workers", "what it costs to keep each step"),
    "against": ("against", "one training in every way that can be run here"),
    "accuracy": ("accuracy", "do models learn as well under the precision profiles?"),
    "answers": ("answers", "an answer of a model, made token by token and checked in one pass"),
    "aggregation": ("aggregation", "what a network learns when some of a step's shares lie"),
    "scale": ("scale", "steps of many shares, recorded by one process and by several"),
    "fleet": ("fleet", "what larger runs take, and the price of bfloat16, by a model"),
    "paper": ("paper", "the paper's experiments"),
    "whole": ("whole", "whole trainings of the paper's size, audited on another instruction set"),
    "launches": ("launches", "what a step launches on a GPU, counted without one"),
    "time-model": ("timemodel", "how long a step takes on cards that are not here, by a model"),
    "gpu": ("gpu", "all that is to be known of a GPU"),
    "cross-hardware": ("cross_hardware", "runs recorded on one machine and replayed on another"),
    "exact-replays": ("replays", "exact runs, replayed on every machine that this one can be"),
    "false-accusations": ("replays", "honest runs, replayed on many machines"),
    "vectors": ("vectors.writing", "write the conformance vectors"),
}
"""The module of each command, which has its :class:`benchmarks.measure.Benchmark`, and what it is for."""
WRONG_CALL = 2


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command.

    Args:
        arguments: The command and its arguments; those of the process unless given.

    Returns:
        The exit code: the command's, and of an error that of Counterfoil's commands.
    """
    name, *rest = (sys.argv[1:] if arguments is None else arguments) or ["--help"]
    if name not in COMMANDS:
        listed = "\n".join(f"  {command:18} {what}" for command, (_, what) in COMMANDS.items())
        print(f"usage: python -m benchmarks COMMAND ...\n\n{listed}")
        return 0 if name in ("-h", "--help") else WRONG_CALL
    benchmark = getattr(importlib.import_module(f"benchmarks.{COMMANDS[name][0]}"), name.upper().replace("-", "_"))
    try:
        return int(benchmark.main(name, rest))
    except CounterfoilError as error:
        return show_error(error)


if __name__ == "__main__":
    sys.exit(main())
