"""How much a run holds of a step of each program of its order."""

from __future__ import annotations

from dataclasses import dataclass

from counterfoil_core.base.digest import DIGEST_BYTES


@dataclass(frozen=True)
class Places:
    """How much a run holds of a step of one program."""

    step: int  #: Number of places of the program; where steps have shares, of the update program.
    share: int = 0  #: Number of places of the gradient program; 0 where steps have no shares.
    tensors: int = 0  #: Number of tensors that are added exactly; 0 where none are.

    def bytes(self, shares: int) -> int:
        """Size of it for a step of so many shares, the logs left out; 0 where it has none."""
        # A loss, the end of the log, the number of its entries, and the fingerprints.
        step = 8 + 8 + 4 + 8 * self.step
        share = 2 * DIGEST_BYTES + 2 * 8 + 8 + 8 * self.share
        return step + shares * share + (4 + DIGEST_BYTES) * self.tensors
