"""Arguments and options that several commands have, each declared once."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from counterfoil.cli.places import KEEPS_PROGRESS, READS, WRITES, WRITES_SIGNED

MAX_VERDICT_BYTES = 64 * 2**20
"""A verdict on a million steps is far smaller; more is not read."""
BundlePlace = Annotated[
    str,
    READS,
    typer.Argument(
        metavar="BUNDLE", help="The bundle, a .cfoil file, or its address: https, http or s3.", show_default=False
    ),
]
RunPlace = Annotated[
    str,
    READS,
    typer.Argument(
        metavar="RUN", help="The trainer's run, a .cfoil file, or its address: https, http or s3.", show_default=False
    ),
]
RunArgument = Annotated[Path, READS, typer.Argument(help="The trainer's run, a .cfoil file.", show_default=False)]
OutOption = Annotated[Path, WRITES, typer.Option("--out", "-o", help="The file to write.", show_default=False)]
ForceOption = Annotated[bool, typer.Option("--force", help="Replace files that exist already.")]
DataOption = Annotated[
    Path | None,
    READS,
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
    READS,
    typer.Option(
        "--order",
        help="The order as you, the client, kept it. Without it the order is taken from the run itself, and nobody "
        "knows whether it is what was ordered.",
        show_default=False,
    ),
]
TrainerKeyOption = Annotated[
    Path | None,
    READS,
    typer.Option(
        help="The trainer's public key (.pub.pem), if you know it. Without it the key that the run names is used.",
        show_default=False,
    ),
]
ClientKeyOption = Annotated[
    Path | None,
    READS,
    typer.Option(
        help="The client's public key (.pub.pem), if you know it: the order must be signed with it. With it the order "
        "file itself is not needed to know whose order it is.",
        show_default=False,
    ),
]
HeadsOption = Annotated[
    Path | None,
    READS,
    typer.Option(
        help="Tree heads of the trainer's (.jsonl) that somebody got while it trained: they show whether history was "
        "rewritten since.",
        show_default=False,
    ),
]
KeyOption = Annotated[
    Path,
    READS,
    typer.Option(
        help="Your private key, from 'counterfoil keygen', or the URI of one in hardware (pkcs11:...).",
        show_default=False,
    ),
]
OptionalKeyOption = Annotated[
    Path | None,
    READS,
    typer.Option(
        help="Your private key, from 'counterfoil keygen', or the URI of one in hardware (pkcs11:...).",
        show_default=False,
    ),
]

CertificateOption = Annotated[
    Path | None,
    READS,
    typer.Option(
        help="The X.509 chain (.pem) that says whose --key is, its own certificate first; it goes beside the "
        "signature.",
        show_default=False,
    ),
]


def numbered_files(given: Sequence[Path] | None, option: str) -> dict[int, Path]:
    """Read what an option was given as NUMBER=FILE, once for each share; raises typer.BadParameter.

    Args:
        given: What it was given.
        option: Its name.
    """
    found: dict[int, Path] = {}
    for item in given or ():
        number, equals, name = str(item).partition("=")
        if not number.isdecimal() or not equals or not name:
            raise typer.BadParameter(f"{option} takes the number of a share, from 0, and a file, such as 2=party.pem.")
        if int(number) in found:
            raise typer.BadParameter(f"{option} is given twice for share {int(number)}.")
        found[int(number)] = Path(name)
    return found


OrderKeyOption = Annotated[
    Path | None,
    READS,
    typer.Option(
        "--key",
        help="Sign the order as its client with this private key, from 'counterfoil keygen'.",
        show_default="the order stays unsigned; 'counterfoil sign-order' signs it later",
    ),
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
SegmentsOption = Annotated[
    str | None,
    typer.Option(
        help="Which segments to replay, from one checkpoint to the next: all, a number of them drawn at random "
        "(5), or a list (3,7-9; a single one as 7-7). 'counterfoil plan' shows what each costs.",
        show_default="all",
    ),
]
ConfidenceOption = Annotated[
    float | None,
    typer.Option(
        min=0.0,
        max=1.0,
        help="Draw as many segments at random as it takes to catch a run with --bad-fraction of bad ones with this "
        "probability, for instance 0.99.",
        show_default=False,
    ),
]
NonceOption = Annotated[
    str | None,
    typer.Option(
        help="The randomness of the sample, 64 hexadecimal digits, to draw one again. It must not be known to the "
        "trainer before the run is signed, and the verdict says that it was given.",
        show_default="a fresh one",
    ),
]
BeaconOption = Annotated[
    Path | None,
    READS,
    typer.Option(
        help="Draw the sample by a round of the public beacon drand (chain quicknet), a JSON file as it is published: "
        "anybody can check that nobody chose it. The round must be later than the run's signature. Needs the extra "
        "'beacon' of Counterfoil.",
        show_default=False,
    ),
]
VerdictOption = Annotated[
    Path | None,
    WRITES_SIGNED,
    typer.Option(help="Write the signed verdict to this file; needs --key.", show_default=False),
]
UnsignedOption = Annotated[
    Path | None,
    WRITES,
    typer.Option(
        help="Write the verdict to this file without a signature, for 'counterfoil sign' on the machine that has the "
        "key; it is no verdict before it is signed.",
        show_default=False,
    ),
]
CsvOption = Annotated[
    Path | None, WRITES, typer.Option(help="Write the table of replayed steps to this file.", show_default=False)
]
CapsuleOption = Annotated[
    Path | None,
    WRITES,
    typer.Option(
        help="On a confirmed dispute, write a capsule (.cfoil) of the disputed step to this file, for 'counterfoil "
        "adjudicate' on any machine.",
        show_default=False,
    ),
]
SealForOption = Annotated[
    list[Path] | None,
    READS,
    typer.Option(
        "--seal-for",
        help="Seal the capsule for the judge with this public sealing key (.pub), from 'counterfoil keygen --sealing'; "
        "nobody else can open it. Once for each judge.",
        show_default=False,
    ),
]
IdentityOption = Annotated[
    Path | None,
    READS,
    typer.Option(
        help="Your private sealing key, which opens a capsule that was sealed for you (.age).", show_default=False
    ),
]
RecheckOption = Annotated[
    int,
    typer.Option(
        min=0,
        help="How many of the segments that others replayed, drawn at random, are replayed here too.",
    ),
]
ResumeOption = Annotated[
    bool,
    typer.Option(
        "--resume",
        help="Go on where an audit of this file with the same options was stopped or killed, or begin if there is "
        "none; it ends with the same verdict as one that was not, and replaces what that one wrote.",
    ),
]
ProgressOption = Annotated[
    Path | None,
    KEEPS_PROGRESS,
    typer.Option(
        help="Keep the progress of the audit in this file while it runs, and look for it there.",
        show_default="a file of its own in your state folder",
    ),
]
