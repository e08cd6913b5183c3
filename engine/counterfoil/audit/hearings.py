"""A hearing as this program holds it: with the user's progress, workers and addresses, and what is said of the box."""

from __future__ import annotations

import os
from collections.abc import Iterator

from counterfoil.audit.judgemachine import open_judge
from counterfoil.audit.outside import LocalOutside
from counterfoil_core.arithmetic.compute.devices import environment, open_device
from counterfoil_core.arithmetic.machine import OpenMachine
from counterfoil_core.base.cancel import CancelToken
from counterfoil_core.base.digest import DIGEST_BYTES, Digest
from counterfoil_core.hearing import adjudicator, session
from counterfoil_core.hearing.keptaudit import Basis
from counterfoil_core.program.limits import Limits
from counterfoil_core.signing.keys import PublicKey
from counterfoil_core.values.events import AdjudicationEvent, Event
from counterfoil_core.values.report import Kept
from counterfoil_core.values.request import AuditRequest


def run_audit(
    request: AuditRequest,
    cancel: CancelToken | None = None,
    outside: LocalOutside | None = None,
    machines: OpenMachine = open_judge,
) -> Iterator[Event]:
    """Audit a run: inspect it, replay it, and conclude; see :func:`counterfoil_core.hearing.session.run_audit`.

    Args:
        request: What to audit.
        cancel: Stops it.
        outside: How it reaches what lies outside of a box; unless given, this process does all itself.
        machines: Sets up the machine that computes.

    Yields:
        AuditStarted, then what happens, then AuditFinished. Before that, for a large file, how far it is hashed.

    Raises:
        GivenFileError: A file that the auditor named is not there, or is none of its kind.
        ValueError: Progress is to be kept of an audit on imitated hardware.
    """
    yield from session.run_audit(request, cancel, outside or LocalOutside(), machines)


def adjudicate(
    path: str | os.PathLike[str],
    *,
    order: str | os.PathLike[str] | None = None,
    trainer_key: PublicKey | None = None,
    client_key: PublicKey | None = None,
    device: str = "cpu",
    threads: int | None = None,
    cancel: CancelToken | None = None,
    limits: Limits | None = None,
) -> Iterator[AdjudicationEvent]:
    """Judge a dispute capsule; see :func:`counterfoil_core.hearing.adjudicator.adjudicate`."""
    yield from adjudicator.adjudicate(
        path,
        order=order,
        trainer_key=trainer_key,
        client_key=client_key,
        device=device,
        threads=threads,
        cancel=cancel,
        limits=limits,
        machines=open_judge,
    )


def find_progress(
    request: AuditRequest, order: Digest, run_root: Digest, outside: LocalOutside | None = None
) -> Kept | None:
    """Return what an audit could go on from, as far as can be said without reading the run; None when there is none.

    Args:
        request: The audit; ``progress`` says where to look.
        order: Digest of the order.
        run_root: The run root that the run is signed with.
        outside: As for :func:`run_audit`.

    Raises:
        DeviceError: There is no such device on this machine.
    """
    if request.progress is None:
        return None
    file = Digest(bytes(DIGEST_BYTES))  # not known: it is hashed when the audit begins
    basis = Basis.of(request, file, order, run_root, environment(open_device(request.device)))
    return (outside or LocalOutside()).shelf.find(request.progress, basis, request.file)
