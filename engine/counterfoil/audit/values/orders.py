"""The order that a file holds against the client's own: check 2, before a replay and after it. Pure.

So too the trainer's key, which may become known after the replay.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TypeVar

from counterfoil.audit.values.outcome import Check, CheckNumber, CheckState
from counterfoil.audit.values.report import Report
from counterfoil.commit.digest import Digest
from counterfoil.errors import OrderMismatchError
from counterfoil.sentence import say

R = TypeVar("R", bound=Report)


def compare_orders(held: Digest, client: Digest | None) -> tuple[CheckState, str]:
    """Compare the order of a file with the client's own; returns state and sentence of check 2.

    Args:
        held: Digest of the order that the file holds.
        client: Digest of the client's own; None when it was not given.

    Raises:
        OrderMismatchError: They are different orders.
    """
    if client is None:
        return (
            CheckState.WARNING,
            say(
                "The order {0} was taken from the file itself; without the client's own nobody knows whether it is "
                "what the client ordered.",
                held.short,
            ),
        )
    if client != held:
        raise OrderMismatchError(
            say("The file was made for the order {0}; the client's order is {1}.", held.short, client.short),
            remedy=say(
                "Make sure that the order file is the one that the client kept. If it is, ask the trainer for the run "
                "of this order."
            ),
        )
    return CheckState.PASSED, say("The order {0} is the client's.", held.short)


def with_trainer_key(report: R) -> R:
    """Return a report as it would be had the trainer's key, with which its signature holds, been given from the start.

    Raises:
        OrderMismatchError: No signature of the run was found to hold.
    """
    if not report.trainer_key:
        raise OrderMismatchError(say("No signature of the run was found to hold, so no key can be known for it."))
    detail = say("Signed by {0}, {1}.", report.trainer_key[:12], say("the key you gave"))
    found = Check(CheckNumber.SIGNATURE, CheckState.PASSED, detail)
    checks = tuple(found if check.number is CheckNumber.SIGNATURE else check for check in report.checks)
    return replace(report, given_key=report.trainer_key, checks=checks)


def with_client_order(report: R, client: Digest) -> R:
    """Return a report as it would be had the client's order been given from the start.

    What is replayed follows from the order's digest alone, so that a replay need not be made again.

    Raises:
        OrderMismatchError: The report is about another order, or about a file whose order could not be read.
    """
    held = report.run_order
    if held is None:
        raise OrderMismatchError(say("The audit could not read the order of the file, so nothing can be compared."))
    found = Check(CheckNumber.ORDER, *compare_orders(held, client))
    checks = tuple(found if check.number is CheckNumber.ORDER else check for check in report.checks)
    return replace(report, order_digest=client, order_source="client", checks=checks)
