"""Options of several commands, each declared once; most of them in groups, with what is made of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from counterfoil.cli.places import OPENS_KEY, READS, READS_BUNDLE, READS_VERDICT, WRITES
from counterfoil.cli.targets import check_writable
from counterfoil_core.signing.keys import PublicKey, load_public_key

if TYPE_CHECKING:
    from counterfoil_core.program.limits import Limits

MAX_VERDICT_BYTES = 64 * 2**20
"""A verdict on a million steps is far smaller; more is not read."""
BundlePlace = Annotated[
    str,
    READS_BUNDLE,
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
VerdictArgument = Annotated[Path, READS_VERDICT, typer.Argument(help="The verdict, a .json file.", show_default=False)]
OutOption = Annotated[Path, WRITES, typer.Option("--out", "-o", help="The file to write.", show_default=False)]
CountsOption = Annotated[
    str | None,
    typer.Option(
        help="What the script of an evaluation calls counts that have a meaning: counted=total,correct=hits, and "
        "nats=loss_sum of the number that adds up losses, of which perplexity follows.",
        metavar="NAMES",
        show_default=False,
    ),
]
COUNTS = "--counts is written counted=total,correct=hits."
ForceOption = Annotated[bool, typer.Option("--force", help="Replace files that exist already.")]
JsonOption = Annotated[bool, typer.Option("--json", help="Print JSON on standard output, for scripts.")]
DataOption = Annotated[
    Path | None,
    READS,
    typer.Option(
        "--data",
        help="The data file (.cfdata), for an order that keeps its data outside. It is checked against the order.",
        show_default=False,
    ),
]
AverageOption = Annotated[
    bool, typer.Option("--average", help="The average of the weights, which the order asks for, in place of them.")
]
ClientOrderOption = Annotated[
    Path | None,
    READS_BUNDLE,
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
    OPENS_KEY,
    typer.Option(
        help="Your private key, from 'counterfoil keygen', or the URI of one in hardware (pkcs11:...).",
        show_default=False,
    ),
]
OptionalKeyOption = Annotated[
    Path | None,
    OPENS_KEY,
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
VerdictKeyOption = Annotated[
    Path, READS, typer.Option("--key", help="The auditor's public key, a .pub.pem file.", show_default=False)
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


@dataclass(frozen=True, kw_only=True)
class NewFile:
    """A file that a command writes."""

    out: OutOption
    force: ForceOption = False

    def check(self) -> None:
        """Refuse a file that cannot be written, before the work; raises FileWriteError."""
        check_writable(self.out, self.force)


@dataclass(frozen=True, kw_only=True)
class Device:
    """Where a command computes."""

    device: Annotated[str, typer.Option(help="Where to compute: cpu, cuda:0, cuda:1, ...")] = "cpu"
    threads: Annotated[
        int | None,
        typer.Option(help="Threads on the CPU; the result is the same for every number.", show_default="all cores"),
    ] = None


@dataclass(frozen=True, kw_only=True)
class Compute(Device):
    """Where a command computes a stranger's program, and how much of it."""

    allow_large: AllowLargeOption = False

    @property
    def limits(self) -> Limits:
        """How large the program may be."""
        from counterfoil_core.program.limits import limits_for

        return limits_for(self.allow_large)


@dataclass(frozen=True, kw_only=True)
class Parties:
    """Whose order and whose run it is, as far as the user knows; what is not given is taken from the file itself."""

    order: ClientOrderOption = None
    trainer_key: TrainerKeyOption = None
    client_key: Annotated[
        Path | None,
        READS,
        typer.Option(
            help="The client's public key (.pub.pem), if you know it: the order must be signed with it. With it the "
            "order file itself is not needed to know whose order it is.",
            show_default=False,
        ),
    ] = None

    @property
    def trainer(self) -> PublicKey | None:
        """The trainer's key; raises KeyFileError."""
        return None if self.trainer_key is None else load_public_key(self.trainer_key)

    @property
    def client(self) -> PublicKey | None:
        """The client's key; raises KeyFileError."""
        return None if self.client_key is None else load_public_key(self.client_key)


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


def named(text: str | None, remedy: str) -> dict[str, str]:
    """Read ``text=content,label=category``; raises a usage error that says how it is written."""
    pairs = [part.strip().partition("=") for part in (text or "").split(",") if part.strip()]
    if any(not (name and value) for name, _, value in pairs):
        raise typer.BadParameter(remedy)
    return {name: value for name, _, value in pairs}
