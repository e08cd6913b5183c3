"""What the signer looks at before it signs: that a statement is of a kind, and about a thing, that it was started for.

It cannot know whether a verdict is true: whoever rules the process that replays can make it sign a false one. It sees
to it that this is at most one verdict, on a file of the name that the user gave, and never a trainer's claim, or
anything else.
"""

from __future__ import annotations

from enum import Enum
from typing import Any

from counterfoil_core.base.errors import SignatureError
from counterfoil_core.base.sentence import say
from counterfoil_core.signing.envelope import parse_statement
from counterfoil_core.signing.intoto import (
    ACCEPTANCE_PREDICATE,
    ADJUDICATION_PREDICATE,
    COMPARISON_PREDICATE,
    FACTS_PREDICATE,
    NOTE_PREDICATE,
    ORDER_PREDICATE,
    RELEASE_PREDICATE,
    REPLY_PREDICATE,
    REVOCATIONS_PREDICATE,
    ROW_USE_PREDICATE,
    RULES_PREDICATE,
    RUN_PREDICATE,
    SHARE_PREDICATE,
    SHORT_RUN_PREDICATE,
    SNAPSHOT_PREDICATE,
    SVR_PREDICATE,
    TREE_HEAD_PREDICATE,
    VERDICT_PREDICATE,
    VSA_PREDICATE,
    WITHDRAWAL_PREDICATE,
)
from counterfoil_core.signing.keys import PublicKey


class Purpose(Enum):
    """What a signer was started for."""

    AUDIT = "audit"
    """One verdict or one adjudication."""
    SUMMARY = "summary"
    """One verdict in the words of others."""
    TRAIN = "train"
    """The acceptance of an order, tree heads, and at the end one run's claim, all of one order."""
    ORDER = "order"
    """One order, as its client, and the comparison of that order with the script that it came from."""
    COMPARISON = "comparison"
    """One comparison of an order with a script."""
    WITHDRAW = "withdraw"
    """The withdrawal of one verdict."""
    REPLY = "reply"
    """One reply to a verdict."""
    NOTE = "note"
    """One note about data."""
    FACTS = "facts"
    """What one run shows of itself."""
    REVOCATIONS = "revocations"
    """One list of revoked keys."""
    ROWS = "rows"
    """What one run did with some rows."""
    RULES = "rules"
    """What one run showed of rules."""
    WITNESS = "witness"
    """The lines of one witness's log."""
    SHARES = "shares"
    """What shares of the steps of one order gave, as the party that answers for them."""
    RELEASE = "release"
    """One list of a release's files."""


_PREDICATES = {
    Purpose.AUDIT: {VERDICT_PREDICATE: say("a verdict"), ADJUDICATION_PREDICATE: say("an adjudication")},
    Purpose.SUMMARY: {SVR_PREDICATE: say("a simple verification result"), VSA_PREDICATE: say("a verification summary")},
    Purpose.TRAIN: {
        ACCEPTANCE_PREDICATE: say("the acceptance of an order"),
        RUN_PREDICATE: say("the claim of a run"),
        SHORT_RUN_PREDICATE: say("the claim of a run"),
        TREE_HEAD_PREDICATE: say("a tree head"),
    },
    Purpose.ORDER: {
        ORDER_PREDICATE: say("an order"),
        COMPARISON_PREDICATE: say("the comparison of an order with a script"),
    },
    Purpose.COMPARISON: {COMPARISON_PREDICATE: say("the comparison of an order with a script")},
    Purpose.WITHDRAW: {WITHDRAWAL_PREDICATE: say("the withdrawal of a verdict")},
    Purpose.REPLY: {REPLY_PREDICATE: say("a reply to a verdict")},
    Purpose.NOTE: {NOTE_PREDICATE: say("a note about data")},
    Purpose.FACTS: {FACTS_PREDICATE: say("the facts of a run")},
    Purpose.REVOCATIONS: {REVOCATIONS_PREDICATE: say("a list of revoked keys")},
    Purpose.ROWS: {ROW_USE_PREDICATE: say("what a run did with rows")},
    Purpose.RULES: {RULES_PREDICATE: say("what a run showed of rules")},
    Purpose.WITNESS: {SNAPSHOT_PREDICATE: say("a line of a witness's log")},
    Purpose.RELEASE: {RELEASE_PREDICATE: say("the list of a release")},
    Purpose.SHARES: {SHARE_PREDICATE: say("what a share of a step gave")},
}
_MORE_FOLLOWS = (ACCEPTANCE_PREDICATE, TREE_HEAD_PREDICATE, ORDER_PREDICATE, SHARE_PREDICATE, SNAPSHOT_PREDICATE)
"""What a trainer's signer signs before the claim, which is the last; what a client's signs before the comparison of the
order; and what a party's signs of each step, and a witness's of each snapshot."""
_OF_ONE_ORDER = (Purpose.TRAIN, Purpose.ORDER, Purpose.SHARES)
"""Purposes whose statements are all about the order that the first of them is about."""
_NAME_THEIR_KEY = (
    Purpose.TRAIN,
    Purpose.ORDER,
    Purpose.COMPARISON,
    Purpose.WITHDRAW,
    Purpose.REPLY,
    Purpose.NOTE,
    Purpose.FACTS,
    Purpose.REVOCATIONS,
    Purpose.ROWS,
    Purpose.RULES,
    Purpose.WITNESS,
)
"""Purposes whose statements name the key that signs them."""


class Gate:
    """Lets statements pass that may be signed.

    Args:
        purpose: What for.
        public: The public key that belongs to the private one.
        about: Name of the file that a verdict or an adjudication must be about; empty for any.
    """

    def __init__(self, purpose: Purpose, public: PublicKey, about: str = "") -> None:
        self._purpose = purpose
        self._public = public
        self._about = about
        self._order: Any = None
        self._finished = False

    def check(self, payload: bytes) -> None:
        """Look at a statement before it is signed; it counts as signed from here on.

        Raises:
            SignatureError: It may not be signed.
        """
        statement = parse_statement(payload)
        allowed = _PREDICATES[self._purpose]
        kind = statement["predicateType"]
        if kind not in allowed:
            raise SignatureError(
                say("This signer signs {0}, and nothing else.", _either(tuple(dict.fromkeys(allowed.values()))))
            )
        if self._finished:
            raise SignatureError(say("This signer has already signed what it was started to sign."))
        subjects = statement["subject"]
        if not isinstance(subjects, list) or not subjects or not all(isinstance(each, dict) for each in subjects):
            raise SignatureError(say("The statement has no subject."))
        if not isinstance(statement["predicate"], dict):
            raise SignatureError(say("The statement has no predicate."))
        if self._purpose in _NAME_THEIR_KEY and statement["predicate"].get("public_key") != self._public.pem:
            raise SignatureError(say("The statement names another public key than the one that would sign it."))
        if self._purpose in _OF_ONE_ORDER:
            self._check_order(subjects[0])
        elif self._about and subjects[0].get("name") != self._about:
            raise SignatureError(say("The statement is about another file than {0}.", self._about))
        self._finished = kind not in _MORE_FOLLOWS

    def _check_order(self, order: dict[str, Any]) -> None:
        if self._order not in (None, order):
            raise SignatureError(say("The statement is about another order than those signed before."))
        self._order = order


def _either(kinds: tuple[str, ...]) -> str:
    said = kinds[0]
    for kind in kinds[1:]:
        said = say("{0} or {1}", said, kind)
    return said
