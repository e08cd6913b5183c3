"""Which run a statement is about: one value, which statements hold as a field, and which is compared as a whole.

The run root alone binds neither order nor trainer: an order with other data and another rate, under which somebody
signs the same records, has the same root. docs/threat-model.md.
"""

from __future__ import annotations

from counterfoil_core.base.digest import Digest
from counterfoil_core.base.sentence import say
from counterfoil_core.signing.kinds import DigestText, Fields


class Subject(Fields, frozen=True):
    """A run."""

    order: Digest  #: Digest of its order.
    run_root: Digest  #: Merkle root over its steps.
    trainer_key: DigestText  #: Key id of who signed it.

    @classmethod
    def of(cls, order: Digest | None, run_root: Digest | None, trainer_key: str) -> Subject | None:
        """Return the run that these name; None where one of them is not known."""
        return None if order is None or run_root is None or not trainer_key else cls(order, run_root, trainer_key)

    def difference(self, other: Subject) -> str:
        """Return why another run is not this one, as the end of a sentence; empty where it is."""
        if self.run_root != other.run_root:
            return say("its run root is {0}, and not {1}", other.run_root.short, self.run_root.short)
        if self.order != other.order:
            return say("its steps are the same, and its order is {0}, not {1}", other.order.short, self.order.short)
        if self.trainer_key != other.trainer_key:
            return say(
                "its steps are the same, and the key {0} signed it, not {1}", other.trainer_key, self.trainer_key
            )
        return ""
