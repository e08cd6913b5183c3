"""Keys and signed statements: make a key, sign what could not be signed, and verify."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from counterfoil import terminal
from counterfoil.audit.statement.signed import Verdict
from counterfoil.audit.values.beacon import Beacon
from counterfoil.cli.exits import Done
from counterfoil.cli.interrupt import cancel_on_interrupt
from counterfoil.cli.keys import ask_passphrase, open_key
from counterfoil.cli.options import MAX_VERDICT_BYTES, ForceOption, JsonOption, KeyOption, OutOption
from counterfoil.cli.targets import check_target
from counterfoil.commit.digest import PIECE_BYTES
from counterfoil.errors import DataError
from counterfoil.inputs import read_input
from counterfoil.signer.client import Passphrase, start_signer
from counterfoil.signer.frames import MAX_STATEMENT_BYTES
from counterfoil.signing import load_public_key, public_path
from counterfoil.terminal import shown
from counterfoil.timestamps import timestamp
from counterfoil.wholefiles import write_whole


def keygen(
    path: Annotated[Path, typer.Argument(help="The private key file to write, for instance trainer.pem.")],
    no_passphrase: Annotated[
        bool, typer.Option("--no-passphrase", help="Do not protect the private key: anyone who gets the file can sign.")
    ] = False,
) -> None:
    """Trainer, auditor: make a key to sign with (Ed25519).

    Writes the private key, and beside it the public one for others, for instance trainer.pub.pem. Asks for a
    passphrase; a script gives it through the file descriptor whose number is in COUNTERFOIL_PASSPHRASE_FD, or in the
    environment variable COUNTERFOIL_PASSPHRASE.

    Example: counterfoil keygen trainer.pem
    """
    passphrase = Passphrase.given(None) if no_passphrase else ask_passphrase()
    with start_signer(path, "audit", passphrase, create=True) as made:
        key_id = made.public.key_id
    public = public_path(path)
    console = terminal.console()
    console.print(f"Wrote {shown(str(path))} (private: keep it secret) and {shown(str(public))} (public: publish it).")
    console.print(f"Key id {key_id}")


def verify(
    verdict: Annotated[Path, typer.Argument(help="The verdict, a .json file.", show_default=False)],
    key: Annotated[Path, typer.Option(help="The auditor's public key, a .pub.pem file.", show_default=False)],
    bundle: Annotated[
        Path | None, typer.Option(help="Check too that the verdict is about this file.", show_default=False)
    ] = None,
    json: JsonOption = False,
) -> None:
    """Anyone: check the signature of a verdict, or of an adjudication, and show what it says.

    The exit code is the verdict's: 0 only if it holds and says VERIFIED. It is 3 (REFUSED) if the verdict does not
    hold, was signed with another key, or is about another file.

    Example: counterfoil verify verdict.json --key auditor.pub.pem --bundle run.cfoil
    """
    from counterfoil.audit.statement.verdict import check_bundle_file, verify_signed

    checked = verify_signed(read_input(verdict, "a verdict", DataError, most=MAX_VERDICT_BYTES), load_public_key(key))
    if bundle is not None:
        with cancel_on_interrupt() as cancel, terminal.progress("Hashing", terminal.console(stderr=True), "MB") as bar:

            def show(done: int, total: int) -> None:
                if done == PIECE_BYTES:
                    bar.start(total // 10**6)
                bar.update(done / 10**6)

            check_bundle_file(checked, bundle, cancel, show)
    from counterfoil.cli import jsonform, reports

    if json:
        jsonform.print_json(checked, checked.trust)
    else:
        console = terminal.console()
        reports.show_verdict(console, checked)
        about = f", and is about {shown(str(bundle))}" if bundle is not None else ""
        console.print(f"The verdict's signature holds{about}.")
        if isinstance(checked, Verdict) and checked.sample is not None and checked.sample.beacon is not None:
            console.print(_beacon_words(checked.sample.beacon))
    raise Done(checked.outcome.exit_code)


def _beacon_words(beacon: Beacon) -> str:
    from counterfoil.audit.beacons import can_check

    said = (
        f"Round {beacon.round} of the beacon {beacon.name}, published at {timestamp(beacon.published)}, drew the sample"
    )
    # A signature that does not hold is an error before.
    return f"{said}; its signature {'holds' if can_check() else 'was not checked: install counterfoil[beacon]'}."


def sign(
    statement: Annotated[
        Path, typer.Argument(help="What an audit could not sign, a .unsigned file.", show_default=False)
    ],
    out: OutOption,
    key: KeyOption,
    force: ForceOption = False,
) -> None:
    """Auditor: sign a verdict whose audit ended without its signature, for instance because the signer was ended.

    Shows what is signed. The file may have been brought here from the machine that replayed.

    Example: counterfoil sign verdict.json.unsigned --key auditor.pem --out verdict.json
    """
    check_target(out, force)
    with open_key(key, "audit") as signing_key:
        from counterfoil.audit.statement.verdict import verify_signed

        data = read_input(statement, "a statement to sign", DataError, most=MAX_STATEMENT_BYTES)
        envelope = signing_key.sign(data)
        # What contradicts itself, or is no verdict, is not written: nobody could use it.
        checked = verify_signed(envelope, signing_key.public)
        write_whole(out, envelope, what="the signed statement")
    console = terminal.console()
    from counterfoil.cli import reports

    reports.show_verdict(console, checked)
    console.print(f"Wrote {shown(str(out))}, signed with the key {signing_key.public.key_id}.")
