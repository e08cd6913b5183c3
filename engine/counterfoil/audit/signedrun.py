"""A run that is open and was compared with what its trainer signed of it, to look into single steps of it."""

from __future__ import annotations

from collections.abc import Generator, Sequence

import numpy as np
import numpy.typing as npt

from counterfoil.audit.referee import result_of
from counterfoil.audit.signatures import check_claim, need_run
from counterfoil.audit.values.difference import ComparedRun
from counterfoil.audit.values.dispute import share_of
from counterfoil.base.arrays import Array
from counterfoil.base.cancel import CancelToken
from counterfoil.base.digest import Digest
from counterfoil.base.errors import CommitmentError
from counterfoil.base.generators import relay
from counterfoil.base.sentence import say
from counterfoil.bundle.reader import BundleReader
from counterfoil.bundle.schema import OrderManifest, RunClaim, StepRecord, run_tree
from counterfoil.bundle.stepshares import StepShares
from counterfoil.program.graph import Program


class SignedRun:
    """One open run, compared with what its trainer signed. Made by :meth:`opened`."""

    def __init__(self, reader: BundleReader, claim: RunClaim, records: Sequence[StepRecord]) -> None:
        self.reader = reader
        self.manifest: OrderManifest = reader.manifest
        self.records = records
        shares = [reader.shares(record.step) if record.step else None for record in self.records]
        self.results = [result_of(*pair) for pair in zip(self.records, shares, strict=True)]
        self.logs = [_logs(*pair) for pair in zip(self.records, shares, strict=True)]
        if run_tree(self.records).root != claim.run_root:
            raise CommitmentError(say("The steps of {0} are not those that its trainer signed.", reader.path.name))
        self.facts = ComparedRun(
            reader.path.name, reader.manifest.digest, claim.run_root, reader.extent.steps, claim.environment
        )

    @classmethod
    def opened(
        cls, reader: BundleReader, cancel: CancelToken | None
    ) -> Generator[tuple[str, int, int], None, SignedRun]:
        """Read a run; yields what is done, how much of it, and of how much.

        Raises:
            GivenFileError: It is an order that nobody has run.
            RefusedError: It is damaged, or not what its trainer signed.
            CancelledError: ``cancel`` was set.
        """
        need_run(reader)
        claim = check_claim(reader.claim(), reader.manifest, None, reader.extent.steps)
        what = say("Hashing {0}", reader.path.name)
        records = yield from relay(reader.rebuild_records(cancel), lambda report: (what, *report))
        return cls(reader, claim, records)

    def program(self, step: int) -> Program:
        """Return the program of a step; the gradient program where shares make it."""
        return Program.from_bytes(self.reader.program(self.manifest.programs.name(step)))

    def printed(self, step: int, part: str) -> npt.NDArray[np.uint64]:
        """Return the fingerprints of a step, or of a part of it."""
        share = share_of(part)
        if share is None:
            return self.reader.fingerprints(step)
        shares = self.reader.shares(step)
        assert shares is not None
        found: npt.NDArray[np.uint64] = shares.fingerprints[share]
        return found

    def state(self, step: int) -> dict[str, Array]:
        """Return the state that it stores after a step; 0 is the initial one."""
        return self.reader.checkpoint(step) if step else self.reader.initial_state()


def _logs(record: StepRecord, shares: StepShares | None) -> tuple[Digest | None, ...]:
    """The digests of the logs of a step."""
    return record.log, *(() if shares is None else (share.log for share in shares.records))
