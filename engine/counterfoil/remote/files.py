"""Opens a file that lies elsewhere, by the libraries for it if they are installed."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from counterfoil.remote.transfer import Patience, Transfer
from counterfoil_core.base.cancel import CancelToken
from counterfoil_core.base.errors import GivenFileError
from counterfoil_core.base.sentence import say
from counterfoil_core.remote.address import Address

MOST_WHOLE = 2**30
"""Bytes of a file that is read whole, since its server gives no pieces of it."""
PATIENCE = Patience()


def open_transfer(address: Address, cancel: CancelToken | None = None) -> Transfer:
    """Open a file that lies elsewhere; whoever opens it closes it.

    Args:
        address: Where it lies.
        cancel: Stops whatever is waited for.

    Raises:
        GivenFileError: There is no such file, it may not be read, or a library for it is not installed.
        FileReadError: The server does not answer.
        CancelledError: ``cancel`` was set.
    """
    transfer = _transfer(address, cancel)
    try:
        transfer.open()
    except BaseException:
        transfer.close()
        raise
    return transfer


@contextmanager
def near(address: Address, cancel: CancelToken | None = None, most: int = MOST_WHOLE) -> Iterator[Path | Address]:
    """Provide a file that lies elsewhere: its address if its server gives pieces of it, else the path of a copy.

    Args:
        address: Where it lies.
        cancel: Stops whatever is waited for.
        most: Bytes that a file may have that is copied.

    Raises:
        GivenFileError: As :func:`open_transfer`, or it can only be read whole and is too large for that.
        FileReadError: The server does not answer.
        CancelledError: ``cancel`` was set.
    """
    transfer = open_transfer(address, cancel)
    try:
        if transfer.has_ranges:
            transfer.close()
            yield address
            return
        with _copied(transfer, most) as path:
            yield path
    finally:
        transfer.close()


@contextmanager
def local_copy(address: Address, cancel: CancelToken | None = None, most: int = MOST_WHOLE) -> Iterator[Path]:
    """Provide a copy of a file that lies elsewhere; raises as :func:`near`."""
    transfer = open_transfer(address, cancel)
    try:
        with _copied(transfer, most) as path:
            yield path
    finally:
        transfer.close()


@contextmanager
def _copied(transfer: Transfer, most: int) -> Iterator[Path]:
    with tempfile.TemporaryDirectory(prefix="counterfoil-") as folder:
        path = Path(folder) / transfer.address.name
        with path.open("wb") as target:
            for _ in transfer.copy_into(target, most):
                pass
        yield path


def _transfer(address: Address, cancel: CancelToken | None) -> Transfer:
    try:
        if address.scheme == "s3":
            from s3fs import S3FileSystem

            from counterfoil.remote.objects import StoredFile

            return StoredFile(S3FileSystem(skip_instance_cache=True), address, PATIENCE, cancel)
        from counterfoil.remote.http import WebFile

        return WebFile(address, PATIENCE, cancel)
    except ImportError as error:
        raise GivenFileError(
            say("Reading {0} needs libraries that are not installed: {1}.", address.shown, str(error)),
            remedy=say("Install them: pip install 'counterfoil[remote]'."),
        ) from error
