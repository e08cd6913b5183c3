"""A report or verdict, compared once more: with an order or a key that the reader has."""

from __future__ import annotations

from dataclasses import replace
from typing import TypeVar

from counterfoil_core.base.digest import Digest
from counterfoil_core.base.errors import OrderMismatchError
from counterfoil_core.base.sentence import joined, say
from counterfoil_core.values.orders import GivenOrder, HeldOrder, accepted_by, compare_orders
from counterfoil_core.values.outcome import Check, CheckNumber, CheckState
from counterfoil_core.values.report import Report

R = TypeVar("R", bound=Report)


def with_trainer_key(report: R) -> R:
    """Return a report as it would be had the trainer's key, with which its signature holds, been given from the start.

    Raises:
        OrderMismatchError: No signature of the run was found to hold.
    """
    if not report.trainer_key:
        raise OrderMismatchError(say("No signature of the run was found to hold, so no key can be known for it."))
    signed = say("Signed by {0}, {1}.", report.trainer_key[:12], say("the key you gave"))
    accepted = accepted_by(report.trainer_key, report.accepted_client, report.accepted_at) if report.accepted_at else ""
    detail = joined(signed, accepted)
    found = Check(CheckNumber.SIGNATURE, CheckState.PASSED, detail)
    checks = tuple(found if check.number is CheckNumber.SIGNATURE else check for check in report.checks)
    return replace(report, given_key=report.trainer_key, checks=checks)


def with_client_order(report: R, client: Digest, signed_by: str = "") -> R:
    """Return a report as it would be had the client's order been given from the start.

    What is replayed follows from the order's digest alone, so that a replay need not be made again.

    Args:
        report: What was found.
        client: Digest of the client's own order.
        signed_by: Key id of who signed that file as the client; empty for an unsigned one.

    Raises:
        OrderMismatchError: The report is about another order, or about a file whose order could not be read.
        SignatureError: The client's own file is signed with another key than the order of the run.
        GivenFileError: As :func:`compare_orders`.
    """
    return _compared_again(report, GivenOrder(client, signed_by), report.given_client_key)


def with_client_key(report: R) -> R:
    """Return a report as it would be had the client's key, with which the order is signed, been given from the start.

    Raises:
        OrderMismatchError: The order is unsigned, or could not be read.
        GivenFileError: As :func:`compare_orders`.
    """
    if not report.client_key:
        raise OrderMismatchError(say("The order is unsigned, so no key can be known for it."))
    given = None
    if report.order_source == "client" and report.order_digest is not None:
        given = GivenOrder(report.order_digest, report.client_key)
    return _compared_again(report, given, report.client_key)


def _compared_again(report: R, given: GivenOrder | None, client_key: str) -> R:
    """The same report with check 2 made anew."""
    held = report.run_order
    if held is None:
        raise OrderMismatchError(say("The audit could not read the order of the file, so nothing can be compared."))
    # Who had signed the order when the trainer accepted it; what a client's own file added to that is not the run's.
    signer = report.accepted_client if report.accepted_at else report.client_key
    trainer = report.trainer_key if report.accepted_at else ""
    found = compare_orders(HeldOrder(held, signer, trainer, report.accepted_at), given, client_key)
    check = Check(CheckNumber.ORDER, found.state, found.detail)
    return replace(
        report,
        order_digest=held if given is None else given.digest,
        order_source=found.source,
        client_key=found.client_key,
        given_client_key=client_key,
        checks=tuple(check if one.number is CheckNumber.ORDER else one for one in report.checks),
    )
