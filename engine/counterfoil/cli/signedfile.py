"""A file that a command signs and writes: its options, and what is made of them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from counterfoil.base.wholefiles import write_whole
from counterfoil.cli.keys import open_key, with_chain
from counterfoil.cli.options import ForceOption, KeyOption, NewFile
from counterfoil.cli.places import OPENS_KEY, WRITES
from counterfoil.cli.terminal import markup
from counterfoil.signer.client import SignerProcess
from counterfoil.signer.environment import drop_passphrase

if TYPE_CHECKING:
    from counterfoil_core.signing.kinds import Said


@dataclass(frozen=True, kw_only=True)
class SignedFile(NewFile):
    """A file that a command signs and writes."""

    key: KeyOption

    def open(self, purpose: str, certificate: Path | None = None) -> SignerProcess:
        """Start the signer, unless the file cannot be written; raises as :func:`open_key` and :func:`with_chain`."""
        self.check()
        return with_chain(open_key(self.key, purpose), certificate)

    def write(self, said: Said, signer: SignerProcess, what: str) -> str:
        """Sign a statement and write it; returns a sentence that says so.

        Args:
            said: What it says.
            signer: Signs it.
            what: What it is called where it cannot be written.
        """
        from counterfoil_core.signing.statements import sign_said

        write_whole(self.out, sign_said(said, signer), what=what)
        return self.signed(signer)

    def signed(self, signer: SignerProcess) -> str:
        """Say that it was written."""
        return f"Wrote {markup(str(self.out))}, signed with the key {signer.public.key_id}."


@dataclass(frozen=True, kw_only=True)
class SignedStatement:
    """A statement of what a command finds, where one is wanted."""

    out: Annotated[Path | None, WRITES, typer.Option(help="Write a signed statement here.", show_default=False)] = None
    key: Annotated[
        Path | None,
        OPENS_KEY,
        typer.Option(help="Your private key, a .pem file; belongs to --out.", show_default=False),
    ] = None
    force: ForceOption = False

    @contextmanager
    def open(self, purpose: str, what: str) -> Iterator[Callable[[Said], str] | None]:
        """Start the signer, and yield what signs, writes, and says so; None where no statement is wanted.

        Args:
            purpose: As for :func:`open_key`.
            what: As for :meth:`SignedFile.write`.

        Raises:
            BadParameter: One of file and key is given without the other.
        """
        if (self.out is None) != (self.key is None):
            raise typer.BadParameter("--out and --key belong together: what is written is signed.")
        if self.out is None or self.key is None:
            drop_passphrase()
            yield None
            return
        file = SignedFile(out=self.out, key=self.key, force=self.force)
        with file.open(purpose) as signer:
            yield lambda said: file.write(said, signer, what)
