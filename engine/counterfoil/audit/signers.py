"""Who signed a run or a capsule, and when as they say: what a list of revoked keys is asked about before a replay."""

from __future__ import annotations

import os

from counterfoil.audit.overview import Reach, open_bundle
from counterfoil.audit.values.signers import Signers
from counterfoil.audit.values.summary import BundleSummary
from counterfoil_core.base.cancel import CancelToken
from counterfoil_core.base.errors import SignatureError
from counterfoil_core.base.trouble import obstacles_noticed
from counterfoil_core.bundle.capsule import CapsuleReader
from counterfoil_core.bundle.schema import OrderManifest
from counterfoil_core.parties.signatures import check_claim, open_client_signature
from counterfoil_core.remote.address import Address
from counterfoil_core.signing.parties import party_ids


def signers_in(summary: BundleSummary) -> Signers:
    """Say who signed what an inspection has looked at."""
    order, run = summary.order, summary.run
    trainer = ("", "") if run is None or not run.trainer_key else (run.trainer_key, run.signed_at)
    client = (order.client_key, order.signed_at) if order.client_key else ("", "")
    return Signers(*trainer, *client, order.parties if run is not None else ())


def signers_of_run(
    path: str | os.PathLike[str] | Address, cancel: CancelToken | None = None, reach: Reach | None = None
) -> Signers:
    """Say who signed a run, and its order.

    Args:
        path: The run: a file of this machine, or the address of one that is read in pieces.
        cancel: Looked at while it is read.
        reach: As for :func:`counterfoil.audit.overview.inspect`.

    Raises:
        BundleError: The file is no bundle.
        ObstacleError: It cannot be read.
        CancelledError: ``cancel`` was set.
    """
    with obstacles_noticed(), open_bundle(path, cancel, reach) as reader:
        return _signers(reader.manifest, reader.order_signature(), reader.claim() if reader.has_run else None)


def signers_of_capsule(path: str | os.PathLike[str]) -> Signers:
    """Say who signed the run that a capsule is about, and its order.

    Raises:
        BundleError: The file is no capsule.
        ObstacleError: It cannot be read.
    """
    with obstacles_noticed(), CapsuleReader.open(path) as reader:
        contents = reader.contents()
    return _signers(contents.manifest, contents.signature, contents.claim)


def _signers(manifest: OrderManifest, signature: bytes | None, envelope: bytes | None) -> Signers:
    # What does not hold is nobody's signature; checks 2 and 5 say why.
    trainer_key = trainer_at = client_key = client_at = ""
    try:
        signed = open_client_signature(signature, manifest)
        if signed is not None:
            client_key, client_at = signed.key_id, signed.signed_at
    except SignatureError:
        pass
    try:
        if envelope is not None:
            claim = check_claim(envelope, manifest, None, None)
            trainer_key, trainer_at = claim.key_id, claim.signed_at
    except SignatureError:
        pass
    return Signers(trainer_key, trainer_at, client_key, client_at, () if envelope is None else party_ids(manifest))
