"""Starts a process that holds a private key, such as the signer's; to be used where files of strangers are read."""

from __future__ import annotations

import os
import sys
import weakref
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import cached_property
from io import FileIO
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Concatenate, ParamSpec, Self, TypeVar

from counterfoil.base.joberrors import SignerError
from counterfoil.signer.environment import MAX_PASSPHRASE_BYTES, take_descriptor
from counterfoil.signer.passphrase import FROM_NOWHERE, FROM_PIPE, FROM_RELAY, FROM_TERMINAL, Secret
from counterfoil.signer.server import SIGNER_PORT, Desk
from counterfoil.talk.port import Port
from counterfoil.talk.process import Process, Start, Words
from counterfoil.talk.table import MOST_STATEMENT, SIGNER, Program
from counterfoil_core.base.cancel import CancelToken
from counterfoil_core.base.errors import CounterfoilError
from counterfoil_core.base.sentence import say

if TYPE_CHECKING:
    from counterfoil_core.signing.keys import PublicKey

ANSWER_SECONDS = 60.0
"""How long the signer may take for an answer, a person's typing excepted."""
P = ParamSpec("P")
T = TypeVar("T")
_AGAIN = say("Start again; if it happens again, look whether something on this machine ends or stops processes.")


@dataclass(frozen=True)
class Passphrase:
    """Where the signer gets the passphrase from; made by :meth:`given`, :meth:`asked` or :meth:`read_from`."""

    source: str  #: What the signer is told.
    descriptor: int | None = None  #: The open file descriptor that it reads; None for another source.
    _text: str = field(default="", repr=False)

    @classmethod
    def given(cls, text: str | None) -> Passphrase:
        """A passphrase that this process has, and sends through the signer's pipe; None or empty for none."""
        return cls(FROM_PIPE, None, text or "")

    @classmethod
    def asked(cls) -> Passphrase:
        """The signer asks for it on the terminal."""
        return cls(FROM_TERMINAL)

    @classmethod
    def read_from(cls, descriptor: int) -> Passphrase:
        """The signer reads it from a file descriptor, to its end; it is closed here when the signer has it."""
        if os.name == "posix":
            return cls(str(descriptor), descriptor)
        # Other systems hand on no descriptors: this process reads it, and sends it.
        with FileIO(descriptor) as file:
            text = file.read(MAX_PASSPHRASE_BYTES) or b""
        return cls(FROM_RELAY, None, text.decode("utf-8", "surrogateescape").rstrip("\r\n"))

    @classmethod
    def none(cls) -> Passphrase:
        """There is none to be had."""
        return cls(FROM_NOWHERE)


def ask_passphrase() -> Passphrase:
    """Return the passphrase of a descriptor, or one that is asked for at a terminal, or none."""
    descriptor = take_descriptor()
    if descriptor is not None:
        return Passphrase.read_from(descriptor)
    return Passphrase.asked() if sys.stdin.isatty() else Passphrase.none()


class _Words(Words):
    def __init__(self, ended: str) -> None:
        self._ended = ended

    def unstarted(self, error: OSError) -> CounterfoilError:
        return SignerError(say("The process that holds the private key cannot be started: {0}.", error))

    def ended(self, code: int) -> CounterfoilError:
        return SignerError(self._ended, remedy=_AGAIN, detail=f"exit code {code}")

    def nonsense(self, error: Exception) -> CounterfoilError:
        return SignerError(say("The signer gave an answer that belongs to another question."), detail=str(error))


class KeyProcess:
    """A process that holds a private key; use it as a context manager, or let it go: it ends with this one.

    Args:
        program: It.
        port: What it may be asked.
        passphrase: Where the passphrase of the key comes from.

    Raises:
        SignerError: It cannot be started.
    """

    def __init__(self, program: Program, port: Port[Any], passphrase: Passphrase) -> None:
        kept = () if passphrase.descriptor is None else (passphrase.descriptor,)
        words = _Words(say("The process that holds the private key ended before it had loaded the key."))
        asks = passphrase.source == FROM_TERMINAL
        self._port = port
        self._patience = None if asks else ANSWER_SECONDS
        self.secret = Secret(passphrase.source, passphrase._text.encode("utf-8", "surrogateescape"))
        try:
            self._process = Process(program, words, Start(descriptors=kept, has_console=asks))
        finally:
            for descriptor in kept:
                os.close(descriptor)
        self._end = weakref.finalize(self, self._process.end)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """End the process."""
        self._end()

    @property
    def process_id(self) -> int:
        """The id of the process."""
        return self._process.process_id

    def expect(self, ended: str) -> None:
        """Say what is said from now on where the process ends before its work is done."""
        self._process.words = _Words(ended)

    def ask(
        self,
        function: Callable[..., Any],
        arguments: tuple[Any, ...],
        cancel: CancelToken | None = None,
        seconds: float | None = None,
    ) -> Iterator[Any]:
        """Yield what a function brings, as :meth:`counterfoil.talk.process.Process.ask`."""
        yield from self._process.ask(self._port, self._port.call(function, arguments, {}), cancel, seconds=seconds)

    def open(self, function: Callable[Concatenate[Any, P], T], *arguments: P.args, **_named: P.kwargs) -> T:
        """Ask for the function that loads the key, which a person may be asked for; it is closed where that fails."""
        try:
            (brought,) = self.ask(function, arguments, seconds=self._patience)
        except BaseException:
            self.close()
            raise
        found: T = brought
        return found


class SignerProcess(KeyProcess):
    """A signer that runs: a ``SigningKey`` whose private half lies in another process; made by :func:`start_signer`.

    Attributes:
        pem: The public key as PEM.
        certificates: The X.509 chain of the key, PEM, the leaf first, that lies beside what it signs; mostly none.
    """

    def __init__(self, passphrase: Passphrase) -> None:
        super().__init__(SIGNER, SIGNER_PORT, passphrase)
        self.pem = ""
        self.certificates: tuple[bytes, ...] = ()

    @cached_property
    def public(self) -> PublicKey:
        """The public key that belongs to the private one."""
        from counterfoil_core.signing.keys import PublicKey

        return PublicKey.from_pem(self.pem.encode())

    def sign(self, payload: bytes) -> bytes:
        """Let the signer sign the canonical JSON of an in-toto statement.

        Returns:
            The DSSE envelope as JSON bytes.

        Raises:
            SignatureError: It does not sign such a statement.
            SignerError: It is gone, or does not answer.
        """
        if len(payload) > MOST_STATEMENT:
            raise SignerError(say("There are {0} bytes to sign; the signer takes {1}.", len(payload), MOST_STATEMENT))
        envelope = self.signed(payload)
        if self.certificates:
            from counterfoil_core.signing.envelope import attach_certificates

            return attach_certificates(envelope, self.certificates)
        return envelope

    def signed(self, payload: bytes) -> bytes:
        """Let the process sign, as :meth:`sign`, with no certificate beside the signature."""
        self.expect(say("The process that holds the private key ended before it had signed."))
        (envelope,) = self.ask(Desk.sign, (payload,), seconds=ANSWER_SECONDS)
        return bytes(envelope)


def start_signer(
    key: str | os.PathLike[str],
    purpose: str,
    passphrase: Passphrase,
    *,
    about: str = "",
    create: bool = False,
) -> SignerProcess:
    """Start the process that holds a private key, and wait until it has loaded it.

    To be called before a file of a stranger's is opened: a passphrase that is wrong is found now.

    Args:
        key: The private key file; this process does not read it.
        purpose: ``audit`` for one verdict or adjudication, ``summary`` for one in the words of others,
            ``train`` for an acceptance, tree heads and a run's claim, ``order`` for a client's order and its
            comparison with a script, ``comparison`` for such a comparison alone, ``withdraw`` for the
            withdrawal of a verdict, ``reply`` for a trainer's reply to one, ``witness`` for the lines of a
            witness's log.
        passphrase: Where its passphrase comes from.
        about: Name of the file that a verdict must be about; empty for any.
        create: Make the key first, as :func:`counterfoil.generate_key` does.

    Raises:
        KeyFileError: There is no such key, or the passphrase is wrong, missing or not needed.
        FileWriteError: The key cannot be made there.
        SignerError: The process cannot be started, or does not answer.
    """
    signer = SignerProcess(passphrase)
    signer.pem = signer.open(Desk.open_key, Path(key), purpose, about, signer.secret, create)
    return signer
