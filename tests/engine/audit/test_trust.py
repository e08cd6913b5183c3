"""What a conclusion rests on: green only with the client's own order and a trainer's key that was known before."""

from __future__ import annotations

from itertools import product

import pytest

from counterfoil_core.values.outcome import Check, CheckNumber, CheckState
from counterfoil_core.values.trust import (
    Level,
    MachineTrust,
    OrderTrust,
    TrainerTrust,
    Trust,
    seen_by,
    signed_by_maker,
    trust_of,
)

ORDER, SELF_TEST = CheckNumber.ORDER, CheckNumber.SELF_TEST
TRAINER, AUDITOR, CLIENT = "ab" * 32, "cd" * 32, "ef" * 32


def checks(order: CheckState = CheckState.PASSED, machine: CheckState = CheckState.PASSED) -> list[Check]:
    return [Check(ORDER, order), Check(SELF_TEST, machine)]


def test_only_the_clients_order_and_a_known_key_are_whole() -> None:
    for order, trainer in product(OrderTrust, TrainerTrust):
        trust = Trust(order, trainer, MachineTrust.TESTED)
        right = order in (OrderTrust.CLIENT, OrderTrust.SIGNED) and trainer is TrainerTrust.NAMED
        assert (trust.level is Level.WHOLE) == right
        assert (trust.reason == "") == right, "what is open is said"


def test_the_wrong_is_worse_than_the_open() -> None:
    assert trust_of(checks(), TRAINER, named=True, auditor_key=TRAINER).level is Level.NONE
    assert trust_of(checks(CheckState.FAILED), TRAINER, named=True).level is Level.NONE
    assert trust_of(checks(), TRAINER, named=True, changed=True).level is Level.OPEN
    assert trust_of(checks(), TRAINER, named=True, auditor_key=AUDITOR).level is Level.WHOLE
    assert trust_of(checks(machine=CheckState.FAILED), TRAINER, named=True).level is Level.OPEN


@pytest.mark.parametrize(
    ("state", "order"),
    [
        (CheckState.PASSED, OrderTrust.CLIENT),
        (CheckState.FAILED, OrderTrust.ANOTHER),
        (CheckState.WARNING, OrderTrust.NOT_COMPARED),
        (CheckState.PENDING, OrderTrust.NOT_COMPARED),
        (CheckState.RUNNING, OrderTrust.NOT_COMPARED),
        (CheckState.SKIPPED, OrderTrust.NOT_COMPARED),
    ],
)
def test_the_order_is_the_clients_where_check_2_says_so(state: CheckState, order: OrderTrust) -> None:
    assert trust_of(checks(state), TRAINER, named=True).order is order
    assert trust_of([], TRAINER, named=True).order is OrderTrust.NOT_COMPARED


def test_a_signature_makes_the_order_the_clients_only_with_the_clients_key() -> None:
    known = trust_of(checks(), TRAINER, named=True, order_source="signature", client_key=CLIENT)
    assert (known.order, known.level) == (OrderTrust.SIGNED, Level.WHOLE)
    unknown = trust_of(checks(CheckState.WARNING), TRAINER, named=True, order_source="bundle", client_key=CLIENT)
    assert (unknown.order, unknown.level) == (OrderTrust.UNKNOWN_SIGNER, Level.OPEN)
    assert "nobody has said that the key that signed it is the client's" in unknown.reason
    assert seen_by(unknown, named=False, changed=False, client=True) == known
    assert seen_by(unknown, named=False, changed=False, client=False) == unknown
    # A reader's key helps nothing where the order is unsigned, or another.
    for state in (CheckState.WARNING, CheckState.FAILED):
        trust = trust_of(checks(state), TRAINER, named=True)
        assert seen_by(trust, named=False, changed=False, client=True) == trust


def test_a_key_is_named_only_where_there_is_one() -> None:
    assert trust_of(checks(), "", named=True, auditor_key="").trainer is TrainerTrust.UNSIGNED
    assert trust_of(checks(), TRAINER, named=False).trainer is TrainerTrust.NOT_NAMED
    assert trust_of(checks(), TRAINER, named=True, changed=True).trainer is TrainerTrust.CHANGED
    assert trust_of(checks(), TRAINER, named=True, changed=True, auditor_key=TRAINER).trainer is TrainerTrust.AUDITOR
    assert not signed_by_maker("", "")
    assert not signed_by_maker(AUDITOR, TRAINER)
    assert signed_by_maker(TRAINER, TRAINER)


def test_each_line_says_what_it_is_about() -> None:
    titles = [line.title for line in trust_of(checks(), TRAINER, named=False).lines]
    assert titles == ["Order", "Trainer", "Machine"]
    assert trust_of(checks(CheckState.WARNING), TRAINER, named=False).reason == (
        "The order was not compared with the client's own, so it is open whether this is what the client ordered. "
        "The trainer's key was taken from the run itself, so it is open who trained."
    )


@pytest.mark.parametrize(("named", "changed"), list(product([False, True], repeat=2)))
@pytest.mark.parametrize("trainer", TrainerTrust)
def test_a_reader_who_knows_keys_sees_more_of_a_trainer_and_nothing_else(
    trainer: TrainerTrust, named: bool, changed: bool
) -> None:
    signed = Trust(OrderTrust.CLIENT, trainer, MachineTrust.TESTED)
    seen = seen_by(signed, named=named, changed=changed, client=True)
    assert (seen.order, seen.machine) == (signed.order, signed.machine)
    if trainer not in (TrainerTrust.NAMED, TrainerTrust.NOT_NAMED):
        assert seen.trainer is trainer, "what was found wrong stays wrong"
    elif changed:
        assert seen.trainer is TrainerTrust.CHANGED
    else:
        assert seen.trainer is (TrainerTrust.NAMED if named else trainer)


@pytest.mark.parametrize("client", [False, True])
@pytest.mark.parametrize("order", OrderTrust)
def test_a_reader_who_knows_the_client_sees_whose_signature_an_order_has(order: OrderTrust, client: bool) -> None:
    signed = Trust(order, TrainerTrust.NAMED, MachineTrust.TESTED)
    seen = seen_by(signed, named=False, changed=False, client=client)
    assert (seen.trainer, seen.machine) == (signed.trainer, signed.machine)
    assert seen.order is (OrderTrust.SIGNED if client and order is OrderTrust.UNKNOWN_SIGNER else order)
