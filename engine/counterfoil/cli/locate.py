"""``counterfoil locate``: which step of which run holds this."""

from __future__ import annotations

import re
import time
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from counterfoil.base.interrupt import cancel_on_interrupt
from counterfoil.base.wholefiles import write_whole
from counterfoil.cli import terminal
from counterfoil.cli.exits import ExitWith
from counterfoil.cli.jsonform import as_json
from counterfoil.cli.options import DataOption, JsonOption, TrainerKeyOption
from counterfoil.cli.places import READS, READS_FOLDER, WRITES
from counterfoil.cli.reader import Reader
from counterfoil.cli.signedfile import SignedStatement
from counterfoil.cli.targets import check_writable
from counterfoil.cli.terminal import markup
from counterfoil_core.signing.keys import PublicKey, load_public_key

if TYPE_CHECKING:
    from rich.console import Console

    from counterfoil.audit.values.location import LocateProgress, Place, StepWeights
    from counterfoil.delivery.location import RowUse
    from counterfoil_core.base.cancel import CancelToken

NOWHERE = 1
"""Exit code where nothing is found: an answer, as DISPUTED is one."""
_HEX = re.compile(r"[0-9a-f]{64}")
SOON = 1.0
"""Seconds after which it is said how far it is."""
_LISTED = 20
"""Steps that are listed one by one."""


@dataclass(frozen=True, kw_only=True)
class Rows(SignedStatement):
    """A statement of which steps read a row."""

    out: Annotated[
        Path | None,
        WRITES,
        typer.Option(help="With --row and one run: write a signed statement here.", show_default=False),
    ] = None


def locate(
    what: Annotated[
        str,
        READS_FOLDER,
        typer.Argument(
            metavar="HASH|FILE", help="64 hexadecimal digits, or a safetensors file or folder, or .npy rows."
        ),
    ],
    runs: Annotated[
        list[Path], READS, typer.Argument(metavar="RUN...", help="Runs, .cfoil files.", show_default=False)
    ],
    reader: Reader,
    row: Annotated[
        bool, typer.Option("--row", help="FILE holds one row, or several, as numpy.save writes them.")
    ] = False,
    *,
    statement: Rows,
    proof: Annotated[
        Path | None,
        WRITES,
        typer.Option(
            help="With --row and one run: write a proof of each place here, for whoever holds the row.",
            show_default=False,
        ),
    ] = None,
    neighbours: Annotated[
        bool,
        typer.Option("--neighbours", help="A proof may show the other rows that lie in one 16 KiB chunk with the row."),
    ] = False,
    data: DataOption = None,
    trainer_key: TrainerKeyOption = None,
    json: JsonOption = False,
) -> None:
    """Anyone: say which step of which run holds a hash or a file of weights, or which steps read a row; or none.

    A hash is a run root, an order digest, the root of a state, the digest of a tensor, the Merkle leaf hash of a
    16 KiB chunk, or the SHA-256 of a file that the order names as its source; no other file's. Weights are compared
    with every state that a run stores. Nothing is replayed, so what a run neither stores nor digests is not found:
    docs/locate.md. Exit code 0 if it is found in one run at least, 1 if in none.

    Example: counterfoil locate model.safetensors run-a.cfoil run-b.cfoil
    """
    if statement.out is not None and (not row or len(runs) != 1):
        raise typer.BadParameter("--out belongs to --row and one run: a statement is about one.")
    if proof is not None and (not row or len(runs) != 1):
        raise typer.BadParameter("--proof belongs to --row and one run: a proof is of one.")
    if neighbours and proof is None:
        raise typer.BadParameter("--neighbours belongs to --proof.")
    if trainer_key is not None and not row:
        raise typer.BadParameter("--trainer-key belongs to --row: a statement says whose run it is about.")
    if data is not None and not row:
        raise typer.BadParameter("--data belongs to --row: nothing else is looked for in data.")
    with ExitStack() as stack:
        if proof is not None:
            check_writable(proof, statement.force)
        write = stack.enter_context(statement.open("rows", "the statement"))
        cancel = stack.enter_context(cancel_on_interrupt())
        trainer = None if trainer_key is None else load_public_key(trainer_key)
        for run in runs:
            reader.check_run(run)
        found = {str(run): _found(what, run, row, cancel, data, trainer) for run in runs}
        proven, written = 0, ""
        if row and (write is not None or proof is not None):
            from counterfoil.delivery.rowproof import prove_rows, write_proofs
            from counterfoil.delivery.rowuse import rows_statement

            uses: tuple[RowUse, ...] = found[str(runs[0])]  # type: ignore[assignment]
            if proof is not None and any(use.places for use in uses):
                proofs = prove_rows(uses, runs[0], cancel, neighbours=neighbours, data=data)
                proven = len(proofs)
                write_whole(proof, write_proofs(proofs), what="the proof")
            if write is not None:
                written = write(rows_statement(uses))
    if json:
        import json as form

        print(form.dumps(as_json(found), indent=2, ensure_ascii=True, allow_nan=False))
    else:
        console = terminal.console()
        for name, places in found.items():
            _show(console, name, places)
    notes = terminal.console(stderr=json)
    if written:
        notes.print(written, soft_wrap=True)
    if proof is not None and proven:
        notes.print(f"Wrote {markup(str(proof))}, the proof of {proven:,} place(s).", soft_wrap=True)
    elif proof is not None:
        notes.print("No proof was written: the row stands nowhere, and of an absence there is none.", soft_wrap=True)
    if not any(_is_there(each) for places in found.values() for each in places):
        raise ExitWith(NOWHERE)


def _found(
    what: str, run: Path, row: bool, cancel: CancelToken, data: Path | None, trainer: PublicKey | None
) -> tuple[Place, ...] | tuple[StepWeights, ...] | tuple[RowUse, ...]:
    from counterfoil.delivery.location import locate_hash, locate_rows, locate_weights
    from counterfoil_core.base.digest import Digest
    from counterfoil_core.base.generators import finish, relay

    if row:
        with terminal.progress("Reading", terminal.console(stderr=True), "steps or rows") as bar:
            return locate_rows(Path(what), run, cancel, terminal.shows(bar), data=data, trainer_key=trainer)
    begun = time.monotonic()
    with terminal.progress(f"Looking through {run.name}", terminal.console(stderr=True), "tensors") as bar:
        started = False

        def tell(said: LocateProgress) -> None:
            nonlocal started
            if time.monotonic() - begun >= SOON:
                if not started:
                    bar.start(said.total)
                started = True
                bar.update(said.done)

        if _HEX.fullmatch(what):
            return finish(relay(locate_hash(run, Digest.from_hex(what), cancel), tell))
        return finish(relay(locate_weights(Path(what), run, cancel), tell))


def _is_there(found: Place | StepWeights | RowUse) -> bool:
    from counterfoil.audit.values.location import StepWeights
    from counterfoil.delivery.location import RowUse

    if isinstance(found, StepWeights):
        return found.holds
    return bool(found.places) if isinstance(found, RowUse) else True


def _show(out: Console, run: str, found: tuple[Place | StepWeights | RowUse, ...]) -> None:
    from counterfoil.audit.values.location import Place, StepWeights
    from counterfoil.delivery.location import RowUse

    out.print(f"{markup(run)}:", soft_wrap=True)
    places = [each for each in found if isinstance(each, Place)]
    weights = [each for each in found if isinstance(each, StepWeights)]
    for place in places:
        where = "" if place.step is None else f" after step {place.step:,}"
        out.print(f"  {place.what}{where}{f': {markup(place.path)}' if place.path else ''}", soft_wrap=True)
    for each in weights:
        if each.holds:
            out.print(f"  the weights after step {each.step:,}: all {each.tensors} tensors")
    for use in found:
        if isinstance(use, RowUse):
            show_use(out, use)
    if not any(_is_there(each) for each in found):
        nearest = max(weights, key=lambda each: each.same, default=None)
        near = (
            ""
            if nearest is None
            else f"; nearest is step {nearest.step:,}, {nearest.same} of {nearest.tensors} tensors"
        )
        out.print(f"  not found{near}")
        if not found and not weights:
            out.print("  A run has no digest of a file of weights, such as an export: give the file itself.")


def show_use(out: Console, use: RowUse) -> None:
    """Print what a run did with a row."""
    out.print(f"  row {use.number} ({use.row.short}...) in {markup(use.array)}: {_use(use)}", soft_wrap=True)


def _use(use: RowUse) -> str:
    if not use.places:
        return "not in the data of this order"
    times = f"read {len(use.steps):,} times, at the steps {_listed(use.steps)}" if use.steps else "read by no step"
    filled = f"; fills shorter batches, and is not read, at the steps {_listed(use.filled)}" if use.filled else ""
    return f"{len(use.places)} times in the data; {times}{filled}"


def _listed(numbers: Sequence[int]) -> str:
    steps = sorted(set(numbers))
    return ", ".join(map(str, steps[:_LISTED])) + (", ..." if len(steps) > _LISTED else "")
