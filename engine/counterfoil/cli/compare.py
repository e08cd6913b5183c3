"""``counterfoil compare``: an order that was written, and the script that it came from."""

from __future__ import annotations

from contextlib import ExitStack
from pathlib import Path
from typing import Annotated

import typer

from counterfoil.base.descendants import ended_afterwards
from counterfoil.cli import terminal
from counterfoil.cli.keys import open_key
from counterfoil.cli.options import COUNTS, CountsOption, ForceOption, named
from counterfoil.cli.places import OPENS_KEY, READS
from counterfoil.cli.scripts import script_stages, write_compared
from counterfoil.cli.targets import check_writable


def compare(
    order: Annotated[Path, READS, typer.Argument(help="The order, a .cfoil file.", show_default=False)],
    script: Annotated[
        list[str],
        typer.Argument(metavar="SCRIPT", help="The script and its arguments, behind --.", show_default=False),
    ],
    steps: Annotated[
        int | None, typer.Option(min=1, help="Compare the first so many steps.", show_default="all")
    ] = None,
    data: Annotated[
        Path | None,
        READS,
        typer.Option(help="The data file, where the order keeps its data outside.", show_default=False),
    ] = None,
    key: Annotated[
        Path | None,
        OPENS_KEY,
        typer.Option(help="The client's or an auditor's private key, which signs that they agree.", show_default=False),
    ] = None,
    counts: CountsOption = None,
    force: ForceOption = False,
) -> None:
    """Client or auditor: hold an order against the script that it came from, step by step, and sign what agrees.

    The script runs as it is, twice, in private copies of this folder. Where they differ that is said, and nothing is
    written.

    Example: counterfoil compare job.cfoil --key client.pem -- train.py --lr 0.001
    """
    from counterfoil.signing.comparedsteps import comparison_path
    from counterfoil.training.following.script import compare_script
    from counterfoil.training.orderfile import load_order
    from counterfoil_core.bundle.reader import BundleReader
    from counterfoil_core.order.executable import with_data_file

    check_writable(comparison_path(order), force)
    with ExitStack() as stack:
        signer = None if key is None else stack.enter_context(open_key(key, "comparison"))
        loaded = load_order(stack.enter_context(BundleReader.open(order)))
        loaded = with_data_file(loaded, data, stack, None)
        with script_stages(terminal.console()) as (tell, _), ended_afterwards():
            made = compare_script(loaded, script[0], script[1:], steps, tell, named(counts, COUNTS))
        write_compared(made, loaded.manifest, order, signer, force)
