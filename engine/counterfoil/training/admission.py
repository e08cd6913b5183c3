"""An order that a process in a box reads and admits, before one in none does: on CUDA, or in a program of the user's.

The digest of what was admitted there is all that comes out of the box. So a file that ends its reader, or takes more
than it should, is met where it can do no harm, and what is recorded is what was admitted. Whoever takes the process in
the box over can have it admit anything: against that only a box around the whole recording helps.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from counterfoil.sandbox import box
from counterfoil.talk.line import Line
from counterfoil.talk.port import Enclosure, Port
from counterfoil.talk.process import Process
from counterfoil.talk.table import ADMISSION
from counterfoil_core.base.cancel import CancelToken
from counterfoil_core.base.digest import Digest
from counterfoil_core.program.limits import Limits


@dataclass(frozen=True)
class Admission:
    """An order that was admitted."""

    order: Digest  #: The order's digest.
    sandbox: str  #: How far the box was closed in which it was.


@contextmanager
def admitted_in_box(
    order: str | os.PathLike[str], limits: Limits | None, cancel: CancelToken | None
) -> Iterator[Digest | None]:
    """Have an order read and admitted in a box, unless this process is in one; in the block a claim says so.

    Args:
        order: The order.
        limits: How large a program of it may be.
        cancel: Stops it.

    Yields:
        The order's digest; None where this process is in a box, or none can be closed here.

    Raises:
        GivenFileError, RefusedError, LimitError: As where it is read in this process.
        ObstacleError: The process ended.
        CancelledError: ``cancel`` was set.
    """
    before = box.sandbox()
    if not before.startswith("none: ") or box.why_none():
        yield None
        return
    process = Process(ADMISSION)
    try:
        path = os.path.abspath(order)
        process.enclose(Enclosure((path,)))
        (found,) = process.ask(ADMITS, ADMITS.call(admit, (Path(path), limits), {}), cancel)
    finally:
        process.end(now=True)
    with box.without_box(f"{before.removeprefix('none: ')}; a box read and admitted the order before: {found.sandbox}"):
        yield found.order


def main() -> None:
    """Admit one: what the process is."""
    line = Line(ADMISSION, ADMITS)
    if line.enclosed() is not None:
        line.serve(None)


def admit(_process: None, order: Path, limits: Limits | None, cancel: CancelToken) -> Admission:
    """Read an order and admit it."""
    from counterfoil_core.bundle.reader import BundleReader
    from counterfoil_core.order.admission import admit_order

    with BundleReader.open(order) as reader:
        admit_order(reader.manifest, reader.check_order_contents(cancel), limits, cancel)
        return Admission(reader.manifest.digest, box.sandbox())


ADMITS = Port[None](admit, given="_process")
"""What the process may be asked."""
