"""What the signer looks at before it signs: that a statement is of a kind, and about a thing, that it was started for.

It cannot know whether a verdict is true: whoever rules the process that replays can make it sign a false one. It sees
to it that this is at most one verdict, on a file of the name that the user gave, of the form that a reader takes, and
never a trainer's claim, or anything else; and of a trainer's tree heads, and of the lines of a witness, at most one of
each size.
"""

from __future__ import annotations

from enum import Enum

from counterfoil.signing.kinds import FORMS
from counterfoil_core.base.digest import Digest
from counterfoil_core.base.errors import SignatureError
from counterfoil_core.base.sentence import say
from counterfoil_core.signing.envelope import parse_statement
from counterfoil_core.signing.keys import PublicKey
from counterfoil_core.signing.kinds import (
    ACCEPTANCE,
    ADDITION,
    ADJUDICATION,
    ANSWER,
    COMPARISON,
    FACTS,
    KINDS,
    NOTE,
    ORDER,
    RELEASE,
    REPLY,
    REVOCATIONS,
    ROW_USE,
    RULES,
    RUN,
    SHARE,
    SNAPSHOT,
    SVR,
    TREE_HEAD,
    VERDICT,
    VSA,
    WITHDRAWAL,
    Kind,
    at,
)
from counterfoil_core.signing.statements import read_said


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
    ANSWER = "answer"
    """What a model answered to one question."""
    WITNESS = "witness"
    """The lines of one witness's log."""
    SHARES = "shares"
    """What shares of the steps of one order gave, as the party that answers for them."""
    RELEASE = "release"
    """One list of a release's files."""
    STATEMENT = "statement"
    """One statement of a kind that is signed from a file."""


_SIGNS: dict[Purpose, tuple[Kind, ...]] = {
    Purpose.AUDIT: (VERDICT, ADJUDICATION),
    Purpose.SUMMARY: (
        Kind(SVR, say("result"), say("a simple verification result"), "an auditor", names_key=False),
        Kind(VSA, say("summary"), say("a verification summary"), "an auditor", names_key=False),
    ),
    Purpose.TRAIN: (ACCEPTANCE, RUN, TREE_HEAD),
    Purpose.ORDER: (ORDER, COMPARISON),
    Purpose.COMPARISON: (COMPARISON,),
    Purpose.WITHDRAW: (WITHDRAWAL,),
    Purpose.REPLY: (REPLY,),
    Purpose.NOTE: (NOTE,),
    Purpose.FACTS: (FACTS,),
    Purpose.REVOCATIONS: (REVOCATIONS,),
    Purpose.ROWS: (ROW_USE,),
    Purpose.RULES: (RULES,),
    Purpose.ANSWER: (ANSWER,),
    Purpose.WITNESS: (SNAPSHOT,),
    Purpose.RELEASE: (RELEASE,),
    Purpose.SHARES: (SHARE, ADDITION),
    Purpose.STATEMENT: tuple(kind for kind in KINDS if kind.alone),
}
_OF_ONE_ORDER = (Purpose.TRAIN, Purpose.ORDER, Purpose.SHARES)
"""Purposes whose statements are all about the order that the first of them is about."""


_NUMBERS = {TREE_HEAD: "size", SNAPSHOT: "number"}
"""Kinds of which one follows another, each with the field that grows: so there is one history, and no two of a size."""


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
        self._order: Digest | None = None
        self._last: dict[Kind, int] = {}
        self._finished = False

    def check(self, payload: bytes) -> None:
        """Look at a statement before it is signed; it counts as signed from here on.

        Raises:
            SignatureError: It may not be signed.
        """
        statement = parse_statement(payload)
        allowed = _SIGNS[self._purpose]
        kind = next((each for each in allowed if statement["predicateType"] in each.predicates), None)
        if kind is None:
            raise SignatureError(
                say("This signer signs {0}, and nothing else.", _either(tuple(each.named for each in allowed)))
            )
        # The words of others, SVR and VSA, are declared nowhere here.
        said = read_said(FORMS[kind.predicate], statement) if kind.predicate in FORMS else None
        number = getattr(said, _NUMBERS.get(kind, ""), 0)
        if self._finished or (kind not in (SHARE, ADDITION) and number <= self._last.get(kind, -1)):
            raise SignatureError(say("This signer has already signed what it was started to sign."))
        if said is not None and kind.names_key and said.signer != self._public.pem:
            raise SignatureError(say("The statement names another public key than the one that would sign it."))
        if self._purpose in _OF_ONE_ORDER:
            order = at(said, "order")
            if self._order not in (None, order):
                raise SignatureError(say("The statement is about another order than those signed before."))
            self._order = order
        elif self._about and statement["subject"][0]["name"] != self._about:
            raise SignatureError(say("The statement is about another file than {0}.", self._about))
        self._last[kind] = number
        self._finished = not kind.more_follows


def _either(kinds: tuple[str, ...]) -> str:
    said = kinds[0]
    for kind in kinds[1:]:
        said = say("{0} or {1}", said, kind)
    return said
