"""What is said later of a verdict: a withdrawal, a reply."""

from __future__ import annotations

from dataclasses import dataclass

from counterfoil_core.base.digest import Digest


@dataclass(frozen=True)
class Withdrawal:
    """The auditor of a verdict takes it back.

    Attributes:
        verdict: SHA-256 of the payload of the verdict.
        reason: Why, in the auditor's words.
        superseded_by: SHA-256 of the payload of the verdict that stands in its place; None when none does.
        signed_at: ISO 8601 time in UTC, as the auditor says.
        key_id: Key id of the key that signed.
    """

    verdict: Digest
    reason: str
    superseded_by: Digest | None
    signed_at: str
    key_id: str


@dataclass(frozen=True)
class Reply:
    """The trainer of a run answers a verdict on it.

    Attributes:
        verdict: SHA-256 of the payload of the verdict.
        text: The reply, in the trainer's words.
        signed_at: ISO 8601 time in UTC, as the trainer says.
        key_id: Key id of the key that signed.
    """

    verdict: Digest
    text: str
    signed_at: str
    key_id: str


@dataclass(frozen=True)
class Afterwards:
    """What the statements that were given say of a verdict.

    Attributes:
        withdrawals: By its auditor, by time.
        replies: By the trainer of its run, by time.
        ignored: Why each of the others says nothing about it.
    """

    withdrawals: tuple[Withdrawal, ...] = ()
    replies: tuple[Reply, ...] = ()
    ignored: tuple[str, ...] = ()
