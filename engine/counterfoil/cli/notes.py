"""Notes about the data of an order: who made them signs how, and anybody checks who said it and of which data."""

from __future__ import annotations

from contextlib import ExitStack
from pathlib import Path
from typing import Annotated

import typer

from counterfoil.base.interrupt import cancel_on_interrupt
from counterfoil.cli import terminal
from counterfoil.cli.options import DataOption
from counterfoil.cli.places import READS
from counterfoil.cli.signedfile import SignedFile
from counterfoil_core.base.cancel import CancelToken
from counterfoil_core.base.digest import Digest
from counterfoil_core.base.errors import GivenFileError
from counterfoil_core.base.inputs import open_input

OrderArgument = Annotated[Path, READS, typer.Argument(help="The order, or a run of it: a .cfoil file.")]
WeightsOption = Annotated[
    Path | None,
    READS,
    typer.Option(help="The file of weights with which the data were made; its SHA-256 is named.", show_default=False),
]


def note(
    order: OrderArgument,
    says: Annotated[str, typer.Option(help="How the data were made, in a sentence or more.", show_default=False)],
    file: SignedFile,
    weights: WeightsOption = None,
    data: DataOption = None,
) -> None:
    """Whoever made an order's data: sign a note that says how, for instance which model sampled them.

    The data are hashed first. The note is about these arrays, in whatever order they stand. It proves who said it, and
    nothing of what is said.

    Example: counterfoil note round.cfoil --says "one round" --weights m.safetensors --key sampler.pem --out note.json
    """
    with file.open("note") as signer, cancel_on_interrupt() as cancel:
        from counterfoil.signing.kinds import DataNote

        root = _checked_data(order, data, cancel)
        written = file.write(DataNote(root, says, digest_of(weights, cancel)), signer, "the note")
    console = terminal.console()
    console.print(f"Data root {root.hex}")
    console.print(written, soft_wrap=True)


def _checked_data(order: Path, data: Path | None, cancel: CancelToken) -> Digest:
    """Hash the data of an order, also those that lie in a data file, and return their root."""
    from counterfoil_core.base.generators import finish
    from counterfoil_core.bundle.datafile import a_slip_of_the_giver, open_data_file
    from counterfoil_core.bundle.reader import BundleReader

    with ExitStack() as stack:
        reader = stack.enter_context(BundleReader.open(order))
        reader.check_order_contents(cancel)
        with a_slip_of_the_giver():
            file = open_data_file(reader.manifest, data, stack)
            if file is not None:
                finish(file.check(reader.manifest, cancel))
        return reader.manifest.data_root


def digest_of(weights: Path | None, cancel: CancelToken) -> Digest | None:
    """Return the SHA-256 of a file of weights; None where none is given."""
    if weights is None:
        return None
    open_input(weights, "a file of weights", GivenFileError).close()
    return Digest.of_file(weights, cancel)
