"""What is done in a box: each task is a function, and what both sides say of it follows from its signature.

What takes time to load is loaded when a task begins; a process in a box has loaded it by then.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from counterfoil.audit.boxed.files import CAPSULE_NAME, PART_NAME
from counterfoil.audit.values.capsulecontents import HandedOut
from counterfoil.audit.values.follow import FollowEvent, FollowRequest
from counterfoil.audit.values.plan import PlanProgress
from counterfoil.audit.values.signers import Signers
from counterfoil.talk.failure import Failure
from counterfoil.talk.port import Port
from counterfoil_core.base.cancel import CancelToken
from counterfoil_core.base.errors import CounterfoilError
from counterfoil_core.program.limits import Limits
from counterfoil_core.remote.address import Address
from counterfoil_core.values.events import AdjudicationEvent, AuditFinished, Event
from counterfoil_core.values.request import AuditRequest

if TYPE_CHECKING:
    from counterfoil.audit.outside import LocalOutside
    from counterfoil_core.signing.keys import PublicKey


@dataclass(frozen=True)
class Inside:
    """What a task has beside its arguments."""

    cancel: CancelToken  #: Stops it.
    outside: LocalOutside | None = None  #: How it reaches what lies outside of the box; None where there is no box.
    scratch: Path = Path()  #: The folder that both sides share.


@dataclass(frozen=True)
class CapsuleMade:
    """A dispute capsule lies in the shared folder."""

    failure: Failure | None  #: Why there is none, although somebody is accused.
    handed: HandedOut | None = None  #: What it hands to whoever gets it.


def audit(
    inside: Inside, request: AuditRequest, trainer_key: str, client_key: str, capsule: bool
) -> Iterator[Event | CapsuleMade]:
    """Audit a run in a box: :func:`counterfoil.run_audit`, without what stays in there.

    Args:
        inside: Where.
        request: What to audit, without keys.
        trainer_key: The trainer's public key as PEM; empty when it is not known.
        client_key: The same of the client's.
        capsule: Whether a dispute capsule is to be written.
    """
    from counterfoil.audit.capsulecontents import count_contents
    from counterfoil.audit.hearings import run_audit
    from counterfoil.bundle.capsulewriter import write_capsule

    # Whoever started this process removes the progress.
    asked = replace(request, trainer_key=_key(trainer_key), client_key=_key(client_key), retain=True)
    for event in run_audit(asked, inside.cancel, inside.outside):
        if not isinstance(event, AuditFinished):
            yield event
            continue
        if capsule and event.evidence is not None:
            try:
                write_capsule(event.evidence, inside.scratch / CAPSULE_NAME)
                yield CapsuleMade(None, count_contents(event.evidence))
            except CounterfoilError as error:
                yield CapsuleMade(Failure.of(error))
        yield replace(event, evidence=None, steps=None)


def part(inside: Inside, request: AuditRequest) -> Iterator[PlanProgress]:
    """Replay segments in a box, into a part file there: :func:`counterfoil.audit.parts.partial.replay_part`."""
    from counterfoil.audit.parts.partial import replay_part

    yield from replay_part(request, inside.scratch / PART_NAME, inside.cancel)


def follow(inside: Inside, request: FollowRequest, trainer_key: str) -> Iterator[FollowEvent]:
    """Follow a recording in a box, into a part file there: :func:`counterfoil.follow`, with the key as PEM.

    The folder must be there by then: a box is opened for what lies under a name when it closes.
    """
    with inside.cancel.at_once():
        from counterfoil.audit.follow import follow as hear
    yield from hear(replace(request, trainer_key=_key(trainer_key)), inside.scratch / PART_NAME, inside.cancel)


def adjudicate(
    inside: Inside,
    capsule: Path,
    order: Path | None,
    trainer_key: str,
    client_key: str,
    device: str,
    threads: int | None,
    limits: Limits,
) -> Iterator[AdjudicationEvent]:
    """Replay a dispute capsule: :func:`counterfoil.adjudicate`, with keys as PEM, empty when not known."""
    with inside.cancel.at_once():
        from counterfoil.audit.hearings import adjudicate as hear
    keys = _key(trainer_key), _key(client_key)
    yield from hear(
        capsule, order=order, trainer_key=keys[0], client_key=keys[1], device=device, threads=threads,
        cancel=inside.cancel, limits=limits,
    )  # fmt: skip


def signers(inside: Inside, file: Path | Address, is_capsule: bool) -> Iterator[Signers]:
    """Say who signed a run, or what a capsule is about: :mod:`counterfoil.audit.signers`."""
    with inside.cancel.at_once():
        from counterfoil.audit.signers import signers_of_capsule, signers_of_run
    if is_capsule:
        assert isinstance(file, Path), "a capsule is read whole"
        yield signers_of_capsule(file)
    else:
        yield signers_of_run(file, inside.cancel, None if inside.outside is None else inside.outside.ranges)


TASKS = Port[Inside](audit, part, follow, adjudicate, signers, given="inside")


def _key(pem: str) -> PublicKey | None:
    from counterfoil_core.signing.keys import PublicKey

    return PublicKey.from_pem(pem.encode()) if pem else None
