"""What an audit or a training has written that is not done: its continuation replaces that, and nothing else.

An audit that was interrupted has written an INCONCLUSIVE verdict and a short table; one whose last file found a full
disk has written the others; a run may lie under its name, and the disk fail to say that it is safe there. The same
command with ``--resume`` writes them again. Which files are meant, and what was in them, is kept beside the progress of
audits, sealed with a secret of the user: a file that anybody changed since, or that another command wrote, is not
replaced.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from counterfoil.base.seal import SEAL_BYTES, check_seal, seal, state_home
from counterfoil.base.wholefiles import notice_placements, write_whole
from counterfoil_core.base import canonical
from counterfoil_core.base.digest import Digest
from counterfoil_core.base.errors import CounterfoilError
from counterfoil_core.base.sentence import say
from counterfoil_core.remote.address import Address

_MARK = b"counterfoil outputs 1\n"
_MAX_BYTES = 2**16


class Written:
    """The files that audits or the training of one run wrote, until one of them is done.

    Args:
        run: The run, by whose place they are known.
    """

    def __init__(self, run: Path | Address) -> None:
        place = os.fsencode(run.shown if isinstance(run, Address) else run.absolute())
        self._path = state_home() / "outputs" / hashlib.sha256(place).hexdigest()[:32]
        self._about = _MARK + place + b"\0"
        self._digests = self._load()

    def has(self, path: Path) -> bool:
        """Whether a file lies there that such an audit wrote, as it wrote it."""
        digest = self._digests.get(str(path.absolute()))
        try:
            return digest is not None and path.is_file() and Digest.of_file(path).hex == digest
        except OSError:
            return False

    def may_replace(self, path: Path | None, *, force: bool, going_on: bool) -> bool:
        """Whether what lies there may be replaced: with ``--force``, or going on, where such an audit wrote it."""
        return force or (going_on and path is not None and self.has(path))

    @contextmanager
    def noted(self, path: Path) -> Iterator[None]:
        """Take note of the file that is written inside the block, before it has its name.

        So it is known where this process is killed right behind that, and where a disk reports an error after the file
        has its name and leaves it there.
        """
        ours = not path.exists() or self.has(path)

        def note(part: Path, target: Path) -> None:
            if ours and target == path:
                self.note(path, part)

        with notice_placements(note):
            yield

    @contextmanager
    def noted_if_failing(self, path: Path) -> Iterator[None]:
        """Take note of the file only where the block fails: one that lies there then is not known to be on the disk."""
        ours = not path.exists() or self.has(path)
        try:
            yield
        except BaseException:
            if ours and path.exists():
                self.note(path, path)
            raise

    def note(self, path: Path, content: Path) -> None:
        """Take note of a file; ``content`` has its bytes."""
        with suppress(OSError, MemoryError, CounterfoilError):  # then --force is needed to replace it
            self._digests[str(path.absolute())] = Digest.of_file(content).hex
            data = canonical.encode(self._digests)
            self._path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            sealed = _MARK + seal(self._about + data) + data
            write_whole(self._path, sealed, what=say("the list of what was written"), mode=0o600)

    def forget(self) -> None:
        """It is done: what it wrote is the user's, and is replaced only with ``--force``."""
        self._digests = {}
        with suppress(OSError):
            self._path.unlink(missing_ok=True)

    def _load(self) -> dict[str, str]:
        try:
            if not self._path.is_file():
                return {}
            with self._path.open("rb") as file:
                found = file.read(_MAX_BYTES)
            data = found[len(_MARK) + SEAL_BYTES :]
            check_seal(self._about + data, found[len(_MARK) : len(_MARK) + SEAL_BYTES])
            digests = canonical.decode(data)
        except (OSError, CounterfoilError):  # of no use: then --force is needed
            return {}
        return {str(name): str(digest) for name, digest in digests.items()}


def first_error(
    tasks: list[Callable[[], None]], shown: Callable[[CounterfoilError], object]
) -> CounterfoilError | None:
    """Do everything, though one thing may fail: what was judged for hours is not lost for one file.

    Args:
        tasks: What is to be written.
        shown: Says what failed, when another thing has failed before.

    Returns:
        What failed first.
    """
    first: CounterfoilError | None = None
    for task in tasks:
        try:
            task()
        except CounterfoilError as error:
            if first is not None:
                shown(error)
            first = first or error
    return first
