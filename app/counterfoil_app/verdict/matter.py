"""What is signed, in words: of an audit or of an adjudication."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Protocol

from counterfoil import AdjudicationReport, Check, KnownKey, Verdict, figures
from counterfoil_app.engine.port import Signable
from counterfoil_app.engine.strangers import plain
from counterfoil_app.looks import text, words
from counterfoil_app.looks.engine_words import translate
from counterfoil_app.looks.language import texts
from counterfoil_app.looks.limits import not_said
from counterfoil_app.looks.words import Look
from counterfoil_app.views.parts import Field, digest_field
from counterfoil_core.base.timestamps import read_timestamp
from counterfoil_core.statement.judgement import Adjudication

_tr = texts("matter")


@dataclass(frozen=True)
class Matter:
    """What is signed."""

    look: Look  #: The outcome.
    sentence: str  #: What is signed, in one sentence.
    fields: tuple[Field, ...]  #: All of it.
    limits: str  #: What it does not say, for whoever signs; not signed. Empty for nothing.


def titles(report: Signable) -> tuple[str, str]:
    """Return what the window that asks for the key is called, and what the signed file is."""
    if isinstance(report, AdjudicationReport):
        return _tr("Sign the adjudication"), _tr("Adjudication")
    return _tr("Sign the verdict"), _tr("Verdict")


def matter_of(said: Verdict | Adjudication) -> Matter:
    """Say what a statement says that is to be signed.

    It is read out of the bytes that are signed, and out of nothing else: an engine that was taken over by what it
    replayed can show one thing, and have another one signed.
    """
    shown = plain(said)
    return _adjudication(shown) if isinstance(shown, Adjudication) else _audit(shown)


def _audit(said: Verdict) -> Matter:
    look = words.conclusion(said, said.trust)
    fields = [*_head(said, words.headline(said)), Field(_tr("Bundle"), said.bundle_name), *_subject(said)]
    fields += [Field(translate(name), translate(each)) for name, each in figures(said)]
    if said.sample is not None and not said.sample.whole:
        fields.append(Field(_tr("Sample"), translate(said.sample.describe())))
    return Matter(
        look=look,
        sentence=_tr("You sign that you replayed {0} and found: {1}. {2}").format(
            said.bundle_name, look.word, words.reason(said, said.trust)
        ),
        fields=(*fields, *_foot(said)),
        limits=not_said(said.outcome, said.sample),
    )


def _adjudication(said: Adjudication) -> Matter:
    look = words.adjudication(said.outcome)
    steps = words.disputed_step(said.step, said.steps_recorded, said.agreed_step)
    fields = [*_head(said, look.word), Field(_tr("Capsule"), said.bundle_name), *_subject(said)]
    fields.append(Field(_tr("Disputed"), steps if said.step else _unread()))
    return Matter(
        look=look,
        sentence=_tr("You sign that you replayed the disputed step in {0} and found: {1}. {2}").format(
            said.bundle_name, look.word, translate(said.reason)
        ),
        fields=(*fields, *_foot(said)),
        limits=not_said(said.outcome),
    )


def _unread() -> str:
    return _tr("could not be read")


def _head(said: Verdict | Adjudication, outcome: str) -> list[Field]:
    return [
        Field(_tr("Outcome"), outcome),
        Field(_tr("Reason"), translate(said.reason)),
        Field(_tr("Time"), read_timestamp(said.signed_at).strftime("%Y-%m-%d %H:%M:%S UTC")),
    ]


def _subject(said: Verdict | Adjudication) -> list[Field]:
    return [
        digest_field(_tr("SHA-256"), said.bundle_digest, _unread()),
        Field(_tr("Order"), words.order_source(said.order_source)),
        digest_field(_tr("Order digest"), said.order_digest, _unread()),
        *([] if said.run_order is None else consent_fields(said, said.accepted)),
        digest_field(_tr("Run root"), said.run_root, _unread()),
        Field(_tr("Trainer's key"), said.trainer_key or _unread(), exact=bool(said.trainer_key)),
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


def _foot(said: Verdict | Adjudication) -> list[Field]:
    fields = []
    if said.disputed_step is not None:
        fields.append(Field(_tr("Disputed step"), text.count(said.disputed_step)))
    fields += check_fields(said.checks)
    return fields + [
        Field(words.environment(name), value) for name, value in said.statement.environment.auditor.items()
    ]
