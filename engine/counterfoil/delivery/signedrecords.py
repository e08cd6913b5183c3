"""The records of a run's steps, which must be those that its trainer signed."""

from __future__ import annotations

from counterfoil_core.base.cancel import CancelToken
from counterfoil_core.base.errors import CommitmentError
from counterfoil_core.base.sentence import say
from counterfoil_core.bundle.reader import BundleReader
from counterfoil_core.bundle.schema import StepRecord, run_tree
from counterfoil_core.bundle.strictfile import OnProgress
from counterfoil_core.parties.signatures import check_claim, need_run, subject_of
from counterfoil_core.signing.keys import PublicKey
from counterfoil_core.signing.subject import Subject


def signed_records(
    reader: BundleReader,
    cancel: CancelToken | None = None,
    progress: OnProgress | None = None,
    trainer_key: PublicKey | None = None,
) -> tuple[list[StepRecord], Subject]:
    """Rebuild the steps' records of a run, and say whose run it is.

    Args:
        reader: The run.
        cancel: Looked at meanwhile.
        progress: Called with the steps that were read, and their total.
        trainer_key: The key that must have signed it; that which it names unless given.

    Raises:
        CommitmentError: The steps are not those that were signed.
        SignatureError: The trainer's signature does not hold, or is another key's.
    """
    need_run(reader)
    records = reader.step_records(cancel, progress)
    about = subject_of(check_claim(reader.claim(), reader.manifest, trainer_key, reader.extent.steps))
    if about.run_root != run_tree(records).root:
        raise CommitmentError(say("The steps of the run are not those that its trainer signed."))
    return records, about
