"""An order read from its file and admitted, ready to be executed."""

from __future__ import annotations

from counterfoil_core.base.cancel import CancelToken
from counterfoil_core.bundle.reader import BundleReader, OrderContents
from counterfoil_core.bundle.schema import OrderManifest
from counterfoil_core.order.admission import admit_order
from counterfoil_core.order.executable import LoadedOrder
from counterfoil_core.program.limits import Limits


def load_order(reader: BundleReader) -> LoadedOrder:
    """Load the order of a bundle, each part checked against the manifest as it is loaded.

    Raises:
        CommitmentError, BundleError: As :meth:`BundleReader.check_order_contents`.
        ProgramError: As :func:`prepare_order`.
    """
    return prepare_order(reader.manifest, reader.check_order_contents())


def prepare_order(
    manifest: OrderManifest,
    contents: OrderContents,
    limits: Limits | None = None,
    cancel: CancelToken | None = None,
) -> LoadedOrder:
    """Make an order ready from its contents, which were checked against the manifest; nothing is read again.

    Arrays that lie in a data file are left out; :meth:`LoadedOrder.with_data` adds them.

    Args:
        manifest: The manifest.
        contents: What the order holds beside it.
        limits: How large a program of it may be; the default limits unless given.
        cancel: Looked at between operators of the programs.

    Raises:
        ProgramError, LimitError, CancelledError: As :func:`counterfoil_core.order.admission.read_programs`.
    """
    return LoadedOrder.of(admit_order(manifest, contents, limits, cancel))
