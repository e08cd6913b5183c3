"""Arguments and options that several commands have, each declared once."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

MAX_VERDICT_BYTES = 64 * 2**20
"""A verdict on a million steps is far smaller; more is not read."""
BundleArgument = Annotated[Path, typer.Argument(help="The bundle, a .cfoil file.", show_default=False)]
RunArgument = Annotated[Path, typer.Argument(help="The trainer's run, a .cfoil file.", show_default=False)]
OutOption = Annotated[Path, typer.Option("--out", "-o", help="The file to write.", show_default=False)]
ForceOption = Annotated[bool, typer.Option("--force", help="Replace files that exist already.")]
DataOption = Annotated[
    Path | None,
    typer.Option(
        "--data",
        help="The data file (.cfdata), for an order that keeps its data outside. It is checked against the order.",
        show_default=False,
    ),
]
JsonOption = Annotated[bool, typer.Option("--json", help="Print JSON on standard output, for scripts.")]
AverageOption = Annotated[
    bool, typer.Option("--average", help="The average of the weights, which the order asks for, in place of them.")
]
DeviceOption = Annotated[str, typer.Option(help="Where to compute: cpu, cuda:0, cuda:1, ...")]
ThreadsOption = Annotated[
    int | None,
    typer.Option(help="Threads on the CPU; the result is the same for every number.", show_default="all cores"),
]
ClientOrderOption = Annotated[
    Path | None,
    typer.Option(
        "--order",
        help="The order as you, the client, kept it. Without it the order is taken from the run itself, and nobody "
        "knows whether it is what was ordered.",
        show_default=False,
    ),
]
TrainerKeyOption = Annotated[
    Path | None,
    typer.Option(
        help="The trainer's public key (.pub.pem), if you know it. Without it the key that the run names is used.",
        show_default=False,
    ),
]
HeadsOption = Annotated[
    Path | None,
    typer.Option(
        help="The tree heads that the trainer published while training (.jsonl): they show whether history was "
        "rewritten.",
        show_default=False,
    ),
]
KeyOption = Annotated[Path, typer.Option(help="Your private key, from 'counterfoil keygen'.", show_default=False)]
OptionalKeyOption = Annotated[
    Path | None, typer.Option(help="Your private key, from 'counterfoil keygen'.", show_default=False)
]
AllowLargeOption = Annotated[
    bool,
    typer.Option(
        "--allow-large",
        help="Compute a program that is larger than the limits of operators, memory or computing; "
        "'counterfoil inspect' shows what it takes.",
    ),
]
BadFractionOption = Annotated[
    float, typer.Option(min=0.0, max=1.0, help="Share of bad segments that a sample must not let pass.")
]
