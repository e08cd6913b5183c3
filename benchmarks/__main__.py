"""``python -m benchmarks COMMAND``: the commands of the laboratory, each of which explains itself with ``--help``."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Mapping, Sequence

COMMANDS: Mapping[str, tuple[str, str]] = {
    "steps": ("steps", "time, log and memory of a step in every form"),
    "check": ("check", "whether the ratios of those times are as good as the stored ones"),
    "window": ("window", "the pauses of the window's event loop"),
    "large": ("large", "write a large bundle"),
    "profile": ("profile", "where the time of a step goes"),
    "growth": ("growth", "how cost grows with sizes"),
    "soak": ("soak", "very many steps: do memory, files and time stay flat?"),
    "workers": ("workers", "what workers gain, and what a segment costs them"),
    "starts": ("starts", "what commands take before they do what they are for"),
    "sandbox": ("sandbox", "what the box costs an audit"),
    "recording": ("recording", "what it costs to keep each step"),
    "exact-products": ("exact_products", "matrix products of the exact profiles"),
    "exact-training": ("exact_training", "a step under the exact profiles"),
    "exact-memory": ("exact_memory", "the peak memory of such a step"),
    "against": ("against", "one training in every way that can be run here"),
    "accuracy": ("accuracy.command", "do models learn as well under the precision profiles?"),
    "aggregation": ("aggregation.command", "what a network learns when some of a step's shares lie"),
    "scale": ("scale", "steps of many shares, recorded by one process and by several"),
    "fleet": ("fleet", "what larger runs take, and the price of bfloat16, by a model"),
    "paper": ("paper.command", "the paper's experiments"),
    "whole": ("whole.command", "whole trainings of the paper's size, audited on another instruction set"),
    "gpu": ("gpu.command", "all that is to be known of a GPU"),
    "cross-hardware": ("cross_hardware.command", "runs recorded on one machine and replayed on another"),
    "exact-replays": ("cross_hardware.replays", "exact runs, replayed on every machine that this one can be"),
    "false-accusations": ("false_accusations", "honest runs, replayed on many machines"),
    "vectors": ("vectors.command", "write the conformance vectors"),
}
"""The module of each command, whose ``main`` takes the arguments and may return an exit code; and what it is for."""
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
    command = importlib.import_module(f"benchmarks.{COMMANDS[name][0]}")
    # Not before the command: what is to be measured may be how little a process loads.
    from counterfoil_core.base.errors import CounterfoilError

    try:
        return int(command.main(rest) or 0)
    except CounterfoilError as error:
        from counterfoil.cli.exits import show_error

        return show_error(error)


if __name__ == "__main__":
    sys.exit(main())
