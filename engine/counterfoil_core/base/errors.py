"""Every error that Counterfoil raises on purpose.

An error carries three things: the sentence a person reads (what happened and why), the remedy (what to do
next), and a detail for the log. Anything else that escapes is a bug in Counterfoil.
"""

from __future__ import annotations

from typing import Literal

from counterfoil_core.base.sentence import joined, say

DIVERGED = say(
    "If the steps before it went well, training has diverged: lower the learning rate, or clip the gradients. If not, "
    "look for a division by zero, a logarithm of zero, a row that is masked as a whole, and data of different sizes."
)
"""What to do about a value that does not fit float32: the remedy of a :class:`NonFiniteError`."""


FileRole = Literal["file", "order", "data", "heads"]
"""What a file is given to an audit as: the run or capsule itself, or what it is compared with."""


class CounterfoilError(Exception):
    """Base of every deliberate error.

    Args:
        sentence: What happened and why, as a whole sentence.
        remedy: What the reader can do next; empty when there is nothing to advise.
        detail: Technical detail for a report; not needed to understand the sentence.
    """

    def __init__(self, sentence: str, *, remedy: str = "", detail: str = "") -> None:
        super().__init__(sentence)
        self.sentence = sentence
        self.remedy = remedy
        self.detail = detail

    def __str__(self) -> str:
        return joined(self.sentence, self.remedy)


class RefusedError(CounterfoilError):
    """The input cannot be judged: unreadable, unsupported, or not the ordered job (outcome REFUSED)."""


class GivenFileError(CounterfoilError):
    """A file that the user named cannot be used: it is not there, or is another one than was meant (outcome ERROR).

    It says nothing of a trainer or of a run, so nothing is concluded from it.

    Args:
        sentence: What happened and why, as a whole sentence.
        role: What the file was given as.
        remedy: What the reader can do next.
        detail: Technical detail for a report.
    """

    def __init__(self, sentence: str, *, role: FileRole = "file", remedy: str = "", detail: str = "") -> None:
        super().__init__(sentence, remedy=remedy, detail=detail)
        self.role: FileRole = role


class BundleError(RefusedError):
    """A bundle is damaged, hostile or not in the format of docs/bundle-format.md."""


class CommitmentError(RefusedError):
    """Contents of a bundle do not match the digests that commit to them."""


class OrderMismatchError(RefusedError):
    """The run was not made for the order at hand."""


class SignatureError(RefusedError):
    """A signature is missing, malformed, or does not hold."""


class KeyFileError(CounterfoilError):
    """A key file cannot be read or written, or its passphrase is wrong."""


class FileWriteError(CounterfoilError):
    """A file cannot be written: no room left, no permission, no such folder."""


class ProgramError(RefusedError):
    """A program is malformed, or holds an operator outside the allow-list."""


class LogError(RefusedError):
    """A rounding log is truncated or inconsistent."""


class ProofError(CounterfoilError):
    """A Merkle proof is malformed or does not hold."""


class DataError(CounterfoilError):
    """Training data or model settings given by the user cannot be used."""


class NonFiniteError(CounterfoilError):
    """An operator gave a value that is not a number, beyond float32's range, or infinite although no argument is."""


class DeviceError(CounterfoilError):
    """This machine cannot run the job: no such device, or it fails the self-test."""


class ProgressError(CounterfoilError):
    """The progress of an audit that was kept cannot be used, or is that of another audit."""


class ObstacleError(CounterfoilError):
    """This machine, its memory or its disks kept the work from its end, and nobody is to blame (INCONCLUSIVE)."""


class FileChangedError(ObstacleError):
    """A file changed while it was read, so that what was checked is not what would be used."""


class ServedError(FileChangedError):
    """What a server gives of a file is not what was committed to, and whose fault that is nobody knows."""


class FileReadError(ObstacleError):
    """The system fails to read a file: a disk error, or a network share that is gone."""


class MemoryShortageError(ObstacleError):
    """This machine has too little memory for the job."""


class LimitError(ObstacleError):
    """A program is larger than the limits under which it would be computed; whoever computes it may raise them."""


class DeviceFailureError(ObstacleError):
    """A device stopped working in the middle of a computation."""


class WorkerError(ObstacleError):
    """The workers of an audit are gone, or one of them computes otherwise than this machine."""


class CancelledError(CounterfoilError):
    """The user stopped the work; nothing is concluded."""
