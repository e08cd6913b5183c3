"""``counterfoil verify-row``: whether what somebody signed of a row is so, and whether a proof of its place holds."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from counterfoil.base.interrupt import cancel_on_interrupt
from counterfoil.cli import terminal
from counterfoil.cli.exits import ExitWith
from counterfoil.cli.locating import show_use
from counterfoil.cli.options import DataOption
from counterfoil.cli.places import READS
from counterfoil.cli.terminal import shown
from counterfoil_core.base.errors import DataError, GivenFileError, ProofError
from counterfoil_core.base.inputs import read_input
from counterfoil_core.signing.keys import load_public_key
from counterfoil_core.values.outcome import Outcome

if TYPE_CHECKING:
    from rich.console import Console

    from counterfoil.delivery.rowuse import SignedRowUse


def verify_row(
    path: Annotated[Path, READS, typer.Argument(metavar="STATEMENT", help="The signed statement, a .json file.")],
    key: Annotated[
        Path, READS, typer.Option(help="The public key of whoever signed it, a .pub.pem file.", show_default=False)
    ],
    run: Annotated[
        Path | None,
        READS,
        typer.Argument(metavar="RUN", help="The run, to look for the row again.", show_default=False),
    ] = None,
    row: Annotated[
        Path | None,
        READS,
        typer.Option(help="The row, or several, as numpy.save writes them: is it about these?", show_default=False),
    ] = None,
    proof: Annotated[
        Path | None,
        READS,
        typer.Option(
            help="The proof of its places that came with the statement; belongs to --row.", show_default=False
        ),
    ] = None,
    data: DataOption = None,
) -> None:
    """Anyone: check who signed what a run did with a row; with the row, its proof, or the run, whether it is so.

    With the run, the row is looked for again, by its SHA-256 in the statement. With the row and a proof, each place is
    checked against the root over the data that the statement names; no other row of the order is needed. Exit code 0
    if all that could be checked with what was given holds; 3 (REFUSED) if not.

    Example: counterfoil verify-row answer.json run.cfoil --key auditor.pub.pem --row me.npy
    """
    from counterfoil.delivery.rowuse import MAX_BYTES, differing, open_row_use, take_again

    if proof is not None and row is None:
        raise typer.BadParameter("--proof belongs to --row: the row itself is not in a proof.")
    if data is not None and run is None:
        raise typer.BadParameter("--data belongs to RUN.")
    signed = open_row_use(read_input(path, "a statement on rows", DataError, most=MAX_BYTES), load_public_key(key))
    out = terminal.console()
    out.print(f"Signed {signed.signed_at}, with the key {signed.key_id}", soft_wrap=True)
    first = signed.uses[0]
    for name, digest in (("order", first.order), ("run root", first.run_root), ("root over the data", first.data_root)):
        out.print(f"{name} {digest.hex}", soft_wrap=True)
    for use in signed.uses:
        show_use(out, use)
    checked = ["The signature holds."]
    if row is not None:
        checked += _with_row(out, signed, row, proof)
    if run is not None:
        console = terminal.console(stderr=True)
        with cancel_on_interrupt() as cancel, terminal.progress("Looking again", console, "steps or rows") as bar:
            found = take_again(signed, run, cancel, terminal.shows(bar), data=data)
        if not found or found[0].run_root != signed.uses[0].run_root:
            _refuse(out, "The statement is about another run.")
        wrong = differing(signed, found)
        if wrong:
            _refuse(out, f"The run shows something else of: {', '.join(wrong)}")
        checked.append("The run shows the same.")
    else:
        checked.append("Without the run, what it did with the row is the word of whoever signed.")
    out.print(" ".join(checked), soft_wrap=True)


def _with_row(out: Console, signed: SignedRowUse, row: Path, proof: Path | None) -> list[str]:
    """Compare the statement, and the proofs of its places, with the row itself."""
    from counterfoil.delivery.rowfile import fitting, packed, read_rows
    from counterfoil.delivery.rowproof import MAX_BYTES, read_proofs, verify_row as verify_proof
    from counterfoil_core.base.digest import Digest

    given = read_rows(row)
    held: dict[Digest, bytes] = {}
    for use in signed.uses:
        rows = fitting(given, use.dtype, use.shape)
        if rows is not None:
            held |= {Digest.of(each): each for each in (one.tobytes() for one in packed(rows))}
    if not held:
        raise GivenFileError(f"The statement is about no row of dtype {given.dtype.name} and shape {given.shape}.")
    spoken = {use.row for use in signed.uses}
    if held.keys() != spoken:
        _refuse(out, f"The statement is about {len(spoken)} row(s), of which {shown(row.name)} has "
                f"{len(held.keys() & spoken)} of its {len(held)}.")  # fmt: skip
    checked = ["It is about this row." if len(held) == 1 else f"It is about these {len(held)} rows."]
    if proof is not None:
        proofs = read_proofs(read_input(proof, "a row proof", GivenFileError, most=MAX_BYTES))
        root = signed.uses[0].data_root  # one and the same in each
        try:
            for each in proofs:
                if each.row not in held:
                    raise ProofError("The proof speaks of another row.")
                verify_proof(each, held[each.row], root)
        except ProofError as error:
            _refuse(out, str(error.sentence))
        said = {(use.array, use.row, place) for use in signed.uses for place in use.places}
        if {(each.array, each.row, each.place) for each in proofs} != said:
            _refuse(out, "The proof is of other places than the statement names.")
        checked.append(f"Each of its {len(said):,} place(s) is proven: it lies in the data of that root.")
    return checked


def _refuse(out: Console, why: str) -> None:
    out.print(f"[bold red]NOT SO[/]  {shown(why)}", soft_wrap=True)
    raise ExitWith(Outcome.REFUSED.exit_code)
