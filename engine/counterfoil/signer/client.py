"""Starts a process that holds a private key, such as the signer's; to be used where files of strangers are read."""

from __future__ import annotations

import json
import os
import subprocess
import threading
import weakref
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from functools import cached_property
from io import FileIO
from types import TracebackType
from typing import TYPE_CHECKING, Self, TypeVar, cast

from counterfoil.base.joberrors import SignerError
from counterfoil.signer.frames import MAX_PASSPHRASE_BYTES, FrameKind, receive_body, receive_kind, send_frame
from counterfoil.talk.programs import program_command, program_environment
from counterfoil_core.base.errors import (
    CancelledError,
    CounterfoilError,
    DataError,
    FileWriteError,
    GivenFileError,
    KeyFileError,
    SignatureError,
)
from counterfoil_core.base.sentence import say, unpacked

if TYPE_CHECKING:
    from counterfoil_core.signing.keys import PublicKey

ANSWER_SECONDS = 60.0
"""How long the signer may take for an answer, a person's typing excepted."""
FAREWELL_SECONDS = 5.0
_TOLD = (CancelledError, DataError, FileWriteError, GivenFileError, KeyFileError, SignatureError, SignerError)
_ERRORS: dict[str, type[CounterfoilError]] = {error.__name__: error for error in _TOLD}
Started = TypeVar("Started", bound="KeyProcess")
_AGAIN = say("Start again; if it happens again, look whether something on this machine ends or stops processes.")


@dataclass(frozen=True)
class Passphrase:
    """Where the signer gets the passphrase from; made by :meth:`given`, :meth:`asked` or :meth:`read_from`.

    Attributes:
        source: What the signer is told.
        descriptor: The open file descriptor that it reads; None for another source.
    """

    source: str
    descriptor: int | None = None
    _text: str = field(default="", repr=False)

    @classmethod
    def given(cls, text: str | None) -> Passphrase:
        """A passphrase that this process has, and sends through the signer's pipe; None or empty for none."""
        return cls("pipe", None, text or "")

    @classmethod
    def asked(cls) -> Passphrase:
        """The signer asks for it on the terminal."""
        return cls("terminal")

    @classmethod
    def read_from(cls, descriptor: int) -> Passphrase:
        """The signer reads it from a file descriptor, to its end; it is closed here when the signer has it."""
        if os.name == "posix":
            return cls(str(descriptor), descriptor)
        # Other systems hand on no descriptors: this process reads it, and sends it.
        with FileIO(descriptor) as file:
            text = file.read(MAX_PASSPHRASE_BYTES) or b""
        return cls("relay", None, text.decode("utf-8", "surrogateescape").rstrip("\r\n"))

    @classmethod
    def none(cls) -> Passphrase:
        """There is none to be had."""
        return cls("none")


class KeyProcess:
    """A process that holds a private key; use it as a context manager, or let it go: it ends with this one.

    Made by :func:`start_process`.
    """

    def __init__(self, process: subprocess.Popen[bytes]) -> None:
        self._process = process
        self._end = weakref.finalize(self, _end, process)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """End the process."""
        self._end()

    def kill(self) -> None:
        """End the process in the middle of its work; whoever waits for its answer is told that it is gone."""
        self._process.kill()

    @property
    def process_id(self) -> int:
        """The id of the process."""
        return self._process.pid

    def begin(self, passphrase: Passphrase) -> str:
        """Hand over the passphrase and wait for the key; part of :func:`start_process`.

        Returns:
            The public key, as the process has it.
        """
        with self._speaking(say("The process that holds the private key ended before it had loaded the key.")):
            if passphrase.source == "terminal":
                return self._receive(FrameKind.READY).decode()
            with self._deadline():
                if passphrase.source in ("pipe", "relay"):
                    send_frame(
                        self._requests, FrameKind.PASSPHRASE, passphrase._text.encode("utf-8", "surrogateescape")
                    )
                return self._receive(FrameKind.READY).decode()

    @property
    def _requests(self) -> FileIO:
        return cast("FileIO", self._process.stdin)

    def _receive(self, wanted: FrameKind) -> bytes:
        answers = cast("FileIO", self._process.stdout)
        kind = receive_kind(answers)
        if kind is None:
            raise EOFError
        body = receive_body(answers, kind)
        if kind is FrameKind.FAILURE:
            raise _told(body)
        if kind is not wanted:
            raise SignerError(say("The signer gave an answer that belongs to another question."))
        return body

    @contextmanager
    def _speaking(self, failed: str) -> Iterator[None]:
        try:
            yield
        except (OSError, EOFError, ValueError) as error:
            self.close()
            code = self._process.returncode
            raise SignerError(failed, remedy=_AGAIN, detail=f"exit code {code}; {error!r}") from error

    @contextmanager
    def _deadline(self) -> Iterator[None]:
        timer = threading.Timer(ANSWER_SECONDS, self._process.kill)
        timer.daemon = True
        timer.start()
        try:
            yield
        finally:
            timer.cancel()


class SignerProcess(KeyProcess):
    """A signer that runs: a ``SigningKey`` whose private half lies in another process; made by :func:`start_signer`.

    Attributes:
        pem: The public key as PEM.
        certificates: The X.509 chain of the key, PEM, the leaf first, that lies beside what it signs; mostly none.
    """

    def __init__(self, process: subprocess.Popen[bytes]) -> None:
        super().__init__(process)
        self.pem = ""
        self.certificates: tuple[bytes, ...] = ()

    def begin(self, passphrase: Passphrase) -> str:
        """As :class:`KeyProcess`."""
        self.pem = super().begin(passphrase)
        return self.pem

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
        with (
            self._speaking(say("The process that holds the private key ended before it had signed.")),
            self._deadline(),
        ):
            send_frame(self._requests, FrameKind.STATEMENT, payload)
            envelope = self._receive(FrameKind.ENVELOPE)
        if self.certificates:
            from counterfoil_core.signing.envelope import attach_certificates

            return attach_certificates(envelope, self.certificates)
        return envelope


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
    command = program_command(
        "counterfoil.signer.server",
        f"--key={os.fspath(key)}", f"--purpose={purpose}", f"--about={about}", f"--passphrase-from={passphrase.source}",
    )  # fmt: skip
    if create:
        command.append("--create")
    return start_process(SignerProcess, command, passphrase)


def start_process(kind: type[Started], command: list[str], passphrase: Passphrase) -> Started:
    """Start a process that holds a private key, and wait until it has loaded it.

    Args:
        kind: What speaks with it.
        command: How it is started, of :func:`counterfoil.talk.programs.program_command`.
        passphrase: Where the passphrase of the key comes from.

    Raises:
        CounterfoilError: As the process says.
        SignerError: It cannot be started, or does not answer.
    """
    kept = () if passphrase.descriptor is None else (passphrase.descriptor,)
    try:
        process = subprocess.Popen(
            command,
            bufsize=0,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            pass_fds=kept,
            # On Windows: no console window of its own, unless it asks on that of this process.
            creationflags=0 if passphrase.source == "terminal" else getattr(subprocess, "CREATE_NO_WINDOW", 0),
            env=program_environment(),
        )
    except (OSError, ValueError) as error:
        raise SignerError(say("The process that holds the private key cannot be started: {0}.", error)) from error
    started = kind(process)
    try:
        started.begin(passphrase)
    except BaseException:
        started.close()
        raise
    finally:
        for descriptor in kept:
            os.close(descriptor)
    return started


def _end(process: subprocess.Popen[bytes]) -> None:
    for pipe in (process.stdin, process.stdout):
        if pipe is not None:
            with suppress(OSError):
                pipe.close()
    try:
        process.wait(FAREWELL_SECONDS)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


def _told(body: bytes) -> CounterfoilError:
    """Read why the signer does not do it; it is our own process, and still only texts are taken from it."""
    value = json.loads(body)
    error = _ERRORS.get(str(value["error"]), SignerError)
    sentence, remedy = (say("{0}", unpacked(value[name])) for name in ("sentence", "remedy"))
    return error(sentence, remedy=remedy)
