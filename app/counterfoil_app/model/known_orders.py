"""The client's orders that the auditor has used, by digest: a run or capsule that names one is offered it again."""

from __future__ import annotations

import json
import re
from pathlib import Path

from counterfoil import CounterfoilError, Digest, write_whole
from counterfoil.base.sentence import say

FILE_NAME = "orders.json"
MAX_ORDERS = 200
MAX_BYTES = 2**20
_DIGEST = re.compile(r"[0-9a-f]{64}")


class KnownOrders:
    """Digests and the files that held these orders; the file is read and compared again whenever it is used.

    Args:
        path: Where the list lies; it need not exist. A damaged one is as good as none: nothing is decided by it.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._files = _read(path)

    def find(self, order: Digest | None) -> Path | None:
        """The file that held an order, if it is still there."""
        path = self._files.get(order.hex) if order is not None else None
        return path if path is not None and path.is_file() else None

    def note(self, order: Digest, path: Path) -> None:
        """Remember the file of an order; raises CounterfoilError when the list cannot be written."""
        path = path.absolute()
        if self._files.get(order.hex) == path:
            return
        files = {order.hex: path, **{digest: file for digest, file in self._files.items() if digest != order.hex}}
        self._files = dict(list(files.items())[:MAX_ORDERS])
        text = json.dumps({digest: str(file) for digest, file in self._files.items()}, indent=1, ensure_ascii=False)
        try:
            self._path.parent.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise CounterfoilError(
                say("The folder {0} cannot be made: {1}.", self._path.parent, error.strerror or error)
            ) from error
        write_whole(self._path, text.encode(errors="surrogateescape"), what=say("the list of orders"))


def _read(path: Path) -> dict[str, Path]:
    try:
        with path.open("rb") as file:
            held = json.loads(file.read(MAX_BYTES).decode(errors="surrogateescape"))
    except (OSError, ValueError, RecursionError):
        return {}
    if not isinstance(held, dict):
        return {}
    pairs = ((digest, file) for digest, file in held.items() if isinstance(file, str) and _DIGEST.fullmatch(digest))
    return {digest: Path(file) for digest, file in list(pairs)[:MAX_ORDERS] if "\0" not in file}
