"""Signs a verdict and writes what the user asked for: the signed file, a report to print, the table of steps."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

from counterfoil import (
    AdjudicationReport,
    Digest,
    Passphrase,
    StepTable,
    Verdict,
    signed_by_maker,
    start_signer,
    write_whole,
)
from counterfoil.base.joberrors import TargetExistsError
from counterfoil.base.wholefiles import check_apart
from counterfoil_app.engine.port import Engine, Signable
from counterfoil_app.engine.strangers import name_of, plain
from counterfoil_app.model.key_book import make_key_folder
from counterfoil_app.model.replayresult import VerdictMaterial
from counterfoil_app.verdict import passphrases
from counterfoil_app.verdict.report_document import NO_CASE, Case, Contents, Curves
from counterfoil_app.verdict.report_process import print_report
from counterfoil_core.base.errors import KeyFileError, SignatureError
from counterfoil_core.base.sentence import joined, say
from counterfoil_core.signing.publickeys import public_path
from counterfoil_core.statement.judgement import Adjudication


def now() -> datetime:
    """The time in whole seconds, with its zone, as a verdict states it."""
    return datetime.now(UTC).replace(microsecond=0)


@dataclass(frozen=True)
class Unsigned:
    """A statement before it is signed; made by :meth:`of`."""

    payload: bytes  #: The bytes that are signed.
    said: Verdict | Adjudication  #: What they say, which is what is shown.

    @classmethod
    def of(cls, engine: Engine, report: Signable, signed_at: datetime) -> Unsigned:
        """Let the engine write the statement, and read it here; to be called from the worker thread.

        Raises:
            CounterfoilError: There is none, or it does not say what the report says that was shown, and is printed.
        """
        from counterfoil_core.statement.verdict import read_unsigned  # with what checks signatures

        payload = engine.preview(report, signed_at)
        said = read_unsigned(payload)
        if (said.outcome, said.about) != (report.outcome, report.about):
            raise SignatureError(
                say("The statement that the engine gives does not say what it had shown."),
                remedy=say("Sign nothing of it: start anew, and replay the run again."),
            )
        return cls(payload, said)


@dataclass(frozen=True)
class SigningRequest:
    """How to sign a verdict or an adjudication, and what else to write."""

    private_key: Path  #: The auditor's private key file.
    passphrase: str | None = field(repr=False)  #: Its passphrase; None when it has none.
    create: bool  #: Create the key first.
    target: Path  #: Where the signed file goes.
    report: Path | None = None  #: Where the report to print goes (PDF); None for none.
    table: Path | None = None  #: Where the table of steps goes (CSV); None for none.
    remember: bool = False  #: Remember the passphrase in the system's key ring.
    #: What was shown, and is signed byte for byte; None until it is there.
    statement: Unsigned | None = field(default=None, repr=False)
    replace: bool = False  #: Whether files that lie there already may be replaced.
    reads: tuple[Path, ...] = ()  #: Files that are open: nothing is written over them, nor over the key.
    case: Case = NO_CASE  #: What the head of the report says.
    #: The public key that signed, once one did; the signer's process says which it is.
    signed_with: list[str] = field(default_factory=list, compare=False)

    def check_apart(self) -> None:
        """Check that nothing is written over the key, what is open, or another of these files.

        Raises:
            FileWriteError: Two of them are the same file.
        """
        targets = [path for path in (self.target, self.report, self.table) if path is not None]
        check_apart(targets, [self.private_key, public_path(self.private_key), *self.reads])

    @property
    def in_the_way(self) -> tuple[Path, ...]:
        """Those of the files to write that lie there already."""
        files = (self.target, self.report, self.table)
        return tuple(path for path in files if path is not None and path.exists())


def export_verdict(engine: Engine, material: VerdictMaterial, request: SigningRequest) -> Path:
    """Sign and write; to be called from the worker thread.

    The key and its passphrase go to the signer's process, and never to the engine's, which reads files of strangers.

    Returns:
        Where the signed verdict lies.

    Raises:
        TargetExistsError: A file lies there already that may not be replaced.
        CounterfoilError: The key cannot be used or made, or a file cannot be written. What was written before stays.
    """
    envelope = _sign(request)
    if request.report is not None:
        page = contents_of(material, envelope, request.target, request.case)
        write_whole(request.report, print_report(page), what=say("the report"), replace=request.replace)
    if request.table is not None:
        engine.write_steps(material.steps, request.table)
    _remember(request)
    return request.target


def export_adjudication(report: AdjudicationReport, request: SigningRequest) -> Path:
    """Sign what the adjudication of a capsule found, and write it; as :func:`export_verdict`."""
    envelope = _sign(request)
    if request.report is not None:
        page = Contents(
            plain(report), None, Curves.of(StepTable()), envelope, name_of(request.target), case=request.case
        )
        write_whole(request.report, print_report(page), what=say("the report"), replace=request.replace)
    _remember(request)
    return request.target


def _sign(request: SigningRequest) -> bytes:
    """Write the signed statement, and return it."""
    statement = request.statement
    assert statement is not None, "it was shown"
    request.check_apart()
    if request.in_the_way and not request.replace:  # before the key is asked for
        raise TargetExistsError(
            say("{0} exists already.", joined(*map(str, request.in_the_way), between=", ")),
            remedy=say("Choose another name, or agree that it is replaced."),
        )
    if request.create:
        make_key_folder(request.private_key.parent)
    passphrase = Passphrase.given(request.passphrase)
    with start_signer(request.private_key, "audit", passphrase, create=request.create) as signer:
        if signed_by_maker(signer.public.key_id, statement.said.trainer_key, statement.said.parties):
            raise KeyFileError(
                say("The key {0} signed the run itself: a trainer cannot audit itself.", signer.public.key_id[:12]),
                remedy=say("Sign with the auditor's key."),
            )
        envelope = signer.sign(statement.payload)
        request.signed_with.append(signer.public.public)
    write_whole(request.target, envelope, what=say("the verdict"), replace=request.replace)
    return envelope


def _remember(request: SigningRequest) -> None:
    if request.remember and request.passphrase is not None:
        passphrases.remember(request.private_key, request.passphrase)


def contents_of(material: VerdictMaterial, envelope: bytes, verdict: Path, case: Case) -> Contents:
    """Return what the report is made from; an order file that is gone by now has no hash in it.

    Args:
        material: What was found.
        envelope: The signed verdict.
        verdict: Where that lies.
        case: What the head of the report says.
    """
    order_file = None
    if material.order is not None:
        with suppress(OSError):
            order_file = Digest.of_file(material.order)
    return Contents(
        plain(material.report),
        plain(material.summary),
        Curves.of(material.steps),
        envelope,
        name_of(verdict),
        case=case,
        order_name=name_of(material.order),
        order_file=order_file,
        trust=material.trust,
    )
