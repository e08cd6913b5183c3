"""Looks into a bundle and the client's order file before anything is replayed."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from counterfoil import BundleSummary, CancelToken
from counterfoil_app.engine.port import Engine
from counterfoil_app.engine.snapshot import Latest
from counterfoil_app.engine.strangers import plain


class Inspection:
    """One look into a bundle.

    Args:
        engine: Reads the files.
        path: The bundle.
        order: The client's order file; None for none.
        clients: The public keys of clients that are known.
    """

    def __init__(self, engine: Engine, path: Path, order: Path | None, clients: Sequence[str] = ()) -> None:
        self._engine = engine
        self._path = path
        self._order = order
        self._clients = tuple(clients)
        self._token = CancelToken()
        self._summaries: Latest[BundleSummary] = Latest()
        self._ordered: Latest[BundleSummary] = Latest()

    def run(self) -> None:
        """Look, in the worker thread.

        Raises:
            CounterfoilError: The bundle cannot be read, or the order file is none.
        """
        if self._order is not None:
            self._ordered.put(self._engine.client_order(self._order, self._path))
        self._summaries.put_all(self._engine.inspect(self._path, self._order, self._clients, self._token))

    def cancel(self) -> None:
        """Look no more; what was seen until then may still come."""
        self._token.cancel()

    def client(self) -> BundleSummary | None:
        """The overview of the client's order file, if it is new."""
        found = self._ordered.take()
        return None if found is None else plain(found)

    def summary(self) -> BundleSummary | None:
        """The overview of the bundle, if it is newer than the last."""
        found = self._summaries.take()
        return None if found is None else plain(found)
