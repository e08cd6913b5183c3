"""What is signed, in words: of an audit or of an adjudication."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from counterfoil import AdjudicationReport, AuditReport, Check, KnownKey, figures
from counterfoil_app.engine.port import Signable
from counterfoil_app.engine.strangers import plain
from counterfoil_app.looks import text, words
from counterfoil_app.looks.engine_words import translated
from counterfoil_app.looks.language import texts
from counterfoil_app.looks.limits import not_said
from counterfoil_app.looks.words import Look
from counterfoil_app.views.parts import Field, digest_field

_tr = texts("matter")


@dataclass(frozen=True)
class Matter:
    """What is signed.

    Attributes:
        title: What the window that asks for the key is called.
        file: What the signed file is called.
        look: The outcome.
        sentence: What is signed, in one sentence.
        fields: All of it.
        limits: What it does not say, for whoever signs; not signed. Empty for nothing.
        tabled: Whether a table of steps can go with it.
    """

    title: str
    file: str
    look: Look
    sentence: str
    fields: tuple[Field, ...]
    tabled: bool
    limits: str


def matter_of(report: Signable, signed_at: datetime) -> Matter:
    """Say what is signed with a report at a time."""
    shown = plain(report)
    return _adjudication(shown, signed_at) if isinstance(shown, AdjudicationReport) else _audit(shown, signed_at)


def name_of_judged(report: Signable) -> str:
    """Name of the file that the report is about, as the engine has it."""
    return report.capsule_name if isinstance(report, AdjudicationReport) else report.bundle_name


def _audit(report: AuditReport, signed_at: datetime) -> Matter:
    look = words.conclusion(report, report.trust)
    fields = [*_head(report, words.headline(report), signed_at), Field(_tr("Bundle"), report.bundle_name)]
    fields += [digest_field(_tr("SHA-256"), report.bundle_digest, _unread()), *_subject(report)]
    fields += [Field(translated(name), translated(said)) for name, said in figures(report)]
    if report.sample is not None and not report.sample.whole:
        fields.append(Field(_tr("Sample"), translated(report.sample.describe())))
    return Matter(
        title=_tr("Sign the verdict"),
        file=_tr("Verdict"),
        look=look,
        sentence=_tr("You sign that you replayed {0} and found: {1}. {2}").format(
            report.bundle_name, look.word, translated(report.reason)
        ),
        fields=(*fields, *_foot(report)),
        tabled=True,
        limits=not_said(report.outcome, report.sample),
    )


def _adjudication(report: AdjudicationReport, signed_at: datetime) -> Matter:
    look = words.adjudication(report.outcome)
    steps = words.disputed_step(report.step, report.steps_recorded, report.agreed_step)
    fields = [*_head(report, look.word, signed_at), Field(_tr("Capsule"), report.capsule_name)]
    fields += [digest_field(_tr("SHA-256"), report.capsule_digest, _unread()), *_subject(report)]
    fields.append(Field(_tr("Disputed"), steps if report.step else _unread()))
    return Matter(
        title=_tr("Sign the adjudication"),
        file=_tr("Adjudication"),
        look=look,
        sentence=_tr("You sign that you replayed the disputed step in {0} and found: {1}. {2}").format(
            report.capsule_name, look.word, translated(report.reason)
        ),
        fields=(*fields, *_foot(report)),
        tabled=False,
        limits=not_said(report.outcome),
    )


def _unread() -> str:
    return _tr("could not be read")


def _head(report: Signable, outcome: str, signed_at: datetime) -> list[Field]:
    return [
        Field(_tr("Outcome"), outcome),
        Field(_tr("Reason"), translated(report.reason)),
        Field(_tr("Time"), signed_at.strftime("%Y-%m-%d %H:%M:%S UTC")),
    ]


def _subject(report: Signable) -> list[Field]:
    return [
        Field(_tr("Order"), words.order_source(report.order_source)),
        digest_field(_tr("Order digest"), report.order_digest, _unread()),
        *([] if report.run_order is None else consent_fields(report, report.accepted_at)),
        digest_field(_tr("Run root"), report.run_root, _unread()),
        Field(_tr("Trainer's key"), report.trainer_key or _unread(), exact=bool(report.trainer_key)),
    ]


class Ordered(Protocol):
    """What says who stands by an order: a report, or what was signed of one."""

    @property
    def client_key(self) -> str:
        """Fingerprint of the key that signed the order as its client; empty for an unsigned one."""

    @property
    def given_client_key(self) -> str:
        """Fingerprint of the key that the auditor gave as the client's."""


def consent_fields(found: Ordered, accepted: str | bool, known: KnownKey | None = None) -> list[Field]:
    """Who stands by the order: its client, and its trainer.

    Args:
        found: Says which key signed it.
        accepted: When the trainer accepted it, ISO 8601, or whether; false where it did not.
        known: The client's key in the list of keys.
    """
    key_id = found.client_key
    given = bool(key_id) and found.given_client_key == key_id
    when = accepted if isinstance(accepted, str) else ""
    return [
        Field(_tr("Client's signature"), words.order_signature(key_id, known, given=given)),
        *([Field(_tr("Client's key"), key_id, exact=True)] if key_id else []),
        Field(_tr("Trainer's acceptance"), words.order_acceptance(bool(accepted), when)),
    ]


def check_fields(checks: Iterable[Check]) -> list[Field]:
    """Where each check stands."""
    return [Field(words.check_title(check.number), words.check_said(check)) for check in checks]


def _foot(report: Signable) -> list[Field]:
    fields = []
    if report.dispute is not None:
        fields.append(Field(_tr("Disputed step"), text.count(report.dispute.step)))
    fields += check_fields(report.checks)
    return fields + [Field(words.environment(name), value) for name, value in report.environment]
