"""Keys and signed statements: make a key, sign what was not signed, and answer a verdict."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from counterfoil.base.wholefiles import write_whole
from counterfoil.cli import terminal
from counterfoil.cli.exits import SELF_SIGNED, ExitWith
from counterfoil.cli.keys import open_key
from counterfoil.cli.options import MAX_VERDICT_BYTES, CertificateOption, NewFile
from counterfoil.cli.places import OPENS_KEY, READS, WRITES_KEYS
from counterfoil.cli.signedfile import SignedFile
from counterfoil.cli.terminal import markup
from counterfoil.signer.client import Passphrase, ask_passphrase, start_signer
from counterfoil.talk.table import MOST_STATEMENT
from counterfoil_core.base.errors import DataError
from counterfoil_core.base.inputs import read_input
from counterfoil_core.base.sentence import say
from counterfoil_core.signing.kinds import REPLY
from counterfoil_core.signing.publickeys import public_path
from counterfoil_core.values.trust import signed_by_maker


def keygen(
    path: Annotated[Path, WRITES_KEYS, typer.Argument(help="The private key file to write, for instance trainer.pem.")],
    no_passphrase: Annotated[
        bool, typer.Option("--no-passphrase", help="Do not protect the private key: anyone who gets the file can sign.")
    ] = False,
    sealing: Annotated[
        bool,
        typer.Option(
            "--sealing",
            help="Judge: make a key that others seal capsules for (age, X25519), for instance judge.key and judge.pub.",
        ),
    ] = False,
) -> None:
    """Trainer, auditor: make a key to sign with (Ed25519); judge: one that capsules are sealed for.

    Writes the private key, and beside it the public one for others, for instance trainer.pub.pem. Asks for a
    passphrase; a script gives it through the file descriptor whose number is in COUNTERFOIL_PASSPHRASE_FD, or in the
    environment variable COUNTERFOIL_PASSPHRASE.

    Example: counterfoil keygen trainer.pem
    """
    passphrase = Passphrase.given(None) if no_passphrase else ask_passphrase()
    if sealing:
        _make_sealing_key(path, passphrase)
        return
    with start_signer(path, "audit", passphrase, create=True) as made:
        key_id = made.public.key_id
    public = public_path(path)
    console = terminal.console()
    console.print(
        f"Wrote {markup(str(path))} (private: keep it secret) and {markup(str(public))} (public: publish it)."
    )
    console.print(f"Key id {key_id}")


def _make_sealing_key(path: Path, passphrase: Passphrase) -> None:
    from counterfoil.sealed.recipients import recipients_path
    from counterfoil.sealed.unseal import make_sealing_key

    recipient = make_sealing_key(path, passphrase)
    public = recipients_path(path)
    console = terminal.console()
    console.print(
        f"Wrote {markup(str(path))} (private: keep it secret) and {markup(str(public))} (public: give it to whoever "
        "seals for you).",
        soft_wrap=True,
    )
    console.print(f"Sealing key {recipient}")


def public_key(
    key: Annotated[
        Path,
        OPENS_KEY,
        typer.Argument(help="The private key: a file, or the URI of one in hardware (pkcs11:...).", show_default=False),
    ],
    file: NewFile,
) -> None:
    """Trainer, auditor, client: write the public half of a key, for instance of one in hardware.

    Asks for the passphrase, or the PIN of the hardware, as commands that sign do.

    Example: counterfoil public-key "pkcs11:token=audit;object=auditor?module-path=/usr/lib/libykcs11.so" -o a.pub.pem
    """
    file.check()
    with open_key(key, "audit") as opened:
        write_whole(file.out, opened.pem.encode(), what="the public key")
        key_id = opened.public.key_id
    terminal.console().print(f"Wrote {markup(str(file.out))} (public: publish it).")
    terminal.console().print(f"Key id {key_id}")


def sign(
    statement: Annotated[
        Path,
        READS,
        typer.Argument(
            help="What was not signed: a .unsigned file, what --unsigned wrote, or a comparison.", show_default=False
        ),
    ],
    file: SignedFile,
    certificate: CertificateOption = None,
) -> None:
    """Anyone: sign what lies unsigned in a file, such as a verdict whose audit ended without its signature.

    Shows first what is signed. The file may have been brought here from the machine that replayed. It is known by its
    type; of others than verdicts and releases the time and the key are put in. Nothing is signed that no reader would
    take, and no claim of a trainer's.

    Example: counterfoil sign verdict.json.unsigned --key auditor.pem --out verdict.json
    """
    console = terminal.console()
    with file.open("statement", certificate) as signing_key:
        from counterfoil.cli import reports
        from counterfoil.cli.verification import show_said, unsigned_in
        from counterfoil_core.statement.model import AdjudicationStatement, VerdictStatement
        from counterfoil_core.statement.verdict import judged

        data = read_input(statement, "a statement to sign", DataError, most=MOST_STATEMENT)
        said = unsigned_in(data, signing_key.public)
        self_signed = False
        if isinstance(said, (VerdictStatement, AdjudicationStatement)):
            checked = judged(said, signing_key.public.key_id)
            self_signed = signed_by_maker(checked.key_id, checked.trainer_key, checked.parties)
            reports.show_verdict(console, checked)
        elif certificate is not None:
            raise typer.BadParameter("--certificate lies beside verdicts alone.")
        else:
            console.print(f"This is {said.KIND.named}:")
            show_said(console, said)
        written = file.write(said, signing_key, "the signed statement")
    console.print(written)
    if self_signed:
        reports.show_self_signed(terminal.console(stderr=True))
        raise ExitWith(SELF_SIGNED)


def withdraw(
    verdict: Annotated[Path, READS, typer.Argument(help="Your verdict, a .json file.", show_default=False)],
    file: SignedFile,
    reason: Annotated[str, typer.Option(help="Why, in a sentence or more.", show_default=False)],
    superseded_by: Annotated[
        Path | None,
        READS,
        typer.Option(help="The verdict that stands in its place, signed with the same key.", show_default=False),
    ] = None,
) -> None:
    """Auditor: take back a verdict, for good or for another one.

    The verdict's file stays as it is: whoever verifies it together with this statement sees both. Only the key that
    signed the verdict can withdraw it.

    Example: counterfoil withdraw verdict.json --key auditor.pem --reason "wrong run" --out withdrawal.json
    """
    with file.open("withdraw") as signer:
        from counterfoil.signing.kinds import Withdrawal
        from counterfoil.trust.afterwards import verdict_digest
        from counterfoil_core.statement.verdict import verify_signed

        old = read_input(verdict, "a verdict", DataError, most=MAX_VERDICT_BYTES)
        verify_signed(old, signer.public)
        new = None
        if superseded_by is not None:
            envelope = read_input(superseded_by, "a verdict", DataError, most=MAX_VERDICT_BYTES)
            verify_signed(envelope, signer.public)
            new = verdict_digest(envelope)
        written = file.write(Withdrawal(verdict_digest(old), reason, new), signer, "the withdrawal")
    terminal.console().print(f"{written} Send it wherever the verdict went: who has only the verdict does not know.")


def reply(
    verdict: Annotated[
        Path, READS, typer.Argument(help="The verdict, or adjudication, on your run: a .json file.", show_default=False)
    ],
    answer: SignedFile,
    text: Annotated[str | None, typer.Option(help="What you say to it.", show_default=False)] = None,
    file: Annotated[
        Path | None,
        READS,
        typer.Option(help="A file of plain text, UTF-8, in the place of --text.", show_default=False),
    ] = None,
) -> None:
    """Trainer: answer a verdict on your run, with the key that signed the run.

    It changes nothing of the verdict: it lies beside it, and 'counterfoil verify' of the verdict shows it as yours.

    Example: counterfoil reply verdict.json --key trainer.pem --file reply.txt --out reply.json
    """
    if (text is None) == (file is None):
        raise typer.BadParameter("Give either --text or --file.")
    with answer.open("reply") as signer:
        from counterfoil.signing.kinds import Reply
        from counterfoil.trust.afterwards import verdict_digest
        from counterfoil_core.statement.verdict import trainer_of

        envelope = read_input(verdict, "a verdict", DataError, most=MAX_VERDICT_BYTES)
        if trainer_of(envelope) != signer.public.key_id:
            raise DataError(
                say("The verdict is on a run that another key signed than {0}.", answer.key.name),
                remedy=say("Give the key with which the run was signed."),
            )
        said = text if file is None else _plain_text(read_input(file, "a reply", DataError, most=REPLY.most))
        written = answer.write(Reply(verdict_digest(envelope), said or ""), signer, "the reply")
    terminal.console().print(f"{written} Hand it out beside the verdict.")


def _plain_text(data: bytes) -> str:
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise DataError(say("The reply is not plain text in UTF-8."), detail=str(error)) from error
