"""The progress of an audit as data: what it is progress of, what it must fit, and its bytes."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Annotated, Any, Self

import msgspec

from counterfoil_core.base.digest import Digest
from counterfoil_core.base.errors import (
    CounterfoilError,
    ProgressError,
)
from counterfoil_core.base.sentence import Sentence, pack_sentence, say, unpack_sentence
from counterfoil_core.bundle.schema import MAX_STEPS
from counterfoil_core.hearing.knowledge import Judged, Known
from counterfoil_core.values.report import Kept
from counterfoil_core.values.request import AuditRequest
from counterfoil_core.values.sampling import Sample, SegmentRequest, Spans
from counterfoil_core.values.steptable import packed_judged, packed_steps

SUFFIX = ".progress"


_Segments = Annotated[int, msgspec.Meta(ge=1, le=MAX_STEPS)]


_NAMED = {
    "file": say("the file"),
    "order": say("the order"),
    "run_root": say("the run"),
    "counterfoil": say("the version of Counterfoil"),
    "torch": say("the version of torch"),
    "device": say("the device"),
    "segments": say("the segments that are asked for"),
    "continue_after_dispute": say("whether it goes on after a dispute"),
}


@dataclass(frozen=True)
class Basis:
    """What progress is progress of. An audit with another basis could give another verdict."""

    file: Digest  #: SHA-256 of the audited file.
    order: Digest  #: Digest of the order.
    run_root: Digest  #: The signed run root.
    counterfoil: str  #: Version of Counterfoil.
    torch: str  #: Version of torch.
    device: str  #: Name of the device, its model, and what vector instructions torch uses.
    segments: SegmentRequest  #: Which segments were asked for.
    continue_after_dispute: bool = True  #: Whether later steps are judged after a dispute.

    @classmethod
    def of(
        cls, request: AuditRequest, file: Digest, order: Digest, run_root: Digest, machine: tuple[tuple[str, str], ...]
    ) -> Basis:
        """Return the basis of an audit on a machine with this environment; the number of threads does not matter."""
        environment = dict(machine)
        return cls(
            file,
            order,
            run_root,
            environment["counterfoil"],
            environment["torch"],
            f"{environment['device']}: {environment['device_title']}, {environment['cpu_capability']}",
            request.segments,
            request.continue_after_dispute,
        )

    @property
    def name(self) -> str:
        """The name of its file: audits in different ways have one each, and so have files that hold the same run."""
        return f"{self._stem}-{self.file.hex[:16]}{SUFFIX}"

    @property
    def names(self) -> str:
        """A pattern of the names of all audits that differ in the file at most."""
        return f"{self._stem}-*{SUFFIX}"

    def differences(self, other: Basis) -> tuple[str, ...]:
        """Return in words what two audits do not have in common."""
        return tuple(words for name, words in _NAMED.items() if getattr(self, name) != getattr(other, name))

    def is_alike(self, other: Basis) -> bool:
        """Whether two audits differ in the file at most."""
        return set(self.differences(other)) <= {_NAMED["file"]}

    @property
    def _stem(self) -> str:
        settings = msgspec.msgpack.encode(
            [getattr(self, item.name) for item in fields(self) if item.name != "file"], enc_hook=_packed
        )
        return f"{self.run_root.hex[:32]}-{hashlib.sha256(settings).hexdigest()[:16]}"


class KeptAudit(Judged, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What a progress file holds: what was judged where a segment ends, and what it takes to go on from there."""

    basis: Basis  #: What it is progress of.
    sample: Sample  #: As in :class:`Judged`.
    segments: _Segments  #: As in :class:`Judged`.
    steps: dict[str, bytes]  #: The rows of the step table, packed.
    capsule: bytes | None  #: SHA-256 of the dispute capsule beside the file; None when there is none.

    @classmethod
    def of(cls, known: Known, basis: Basis, capsule: Digest | None) -> Self:
        """Return what is kept of an audit."""
        return cls(
            **{name: getattr(known.judged, name) for name in Judged.__struct_fields__},
            basis=basis,
            steps=known.steps.pack(known.step),
            capsule=None if capsule is None else capsule.value,
        )

    def __post_init__(self) -> None:
        """Check what no audit could have found; raises ValueError. Numbers that are too large would fill the memory."""
        packed_steps(self.steps)
        total = self.sample.total
        if not 1 <= total <= MAX_STEPS or not 0 <= self.sample.bad <= total:
            raise ValueError("no run has so many segments")
        if not self.sample.spans or not all(map(_ascending(total), (self.sample.spans, *self._replayed))):
            raise ValueError("there are no such segments")
        if not math.isfinite(self.seconds):
            raise ValueError("it took no time that can be")

    @property
    def judged(self) -> Judged:
        """What was judged."""
        return Judged(**{name: getattr(self, name) for name in Judged.__struct_fields__})

    @property
    def _replayed(self) -> Iterator[Spans]:
        return (at.segments for at in self.replayed_at)

    def fits(self, steps: int, total: int) -> bool:
        """Whether a run of so many steps and segments can have steps and segments of these numbers."""
        named = [*self.omissions, *(divergence.step for divergence in self.divergences)]
        if self.dispute is not None:
            named += [self.dispute.step, self.dispute.compared_at or self.dispute.step]
        judged = sum(last - first + 1 for spans in self._replayed for first, last in spans)
        return (
            self.sample.total == total
            and self.segments <= self.sample.count
            and judged == self.segments
            and all(1 <= step <= steps for step in named)
            and all(count <= steps for count in self.steering_steps)
        )

    def kept_at(self, path: Path) -> Kept:
        """Say in short what the file holds that lies there."""
        steps = packed_steps(self.steps)
        last = int(steps[-1]) if len(steps) else 0
        return Kept(path, self.segments, self.sample.count, last, packed_judged(self.steps))


def _ascending(total: int) -> Callable[[Spans], bool]:
    """Whether spans are those of segments 1 to ``total``, ascending and apart."""

    def check(spans: Spans) -> bool:
        ends = [0, *(end for span in spans for end in span), total + 1]
        return all(
            ends[place] < ends[place + 1] if place % 2 == 0 else ends[place] <= ends[place + 1]
            for place in range(len(ends) - 1)
        )

    return check


def body_of(audit: KeptAudit) -> bytes:
    """Return what a progress file holds behind its seal."""
    return msgspec.msgpack.encode(audit, enc_hook=_packed)


def audit_of(body: bytes) -> KeptAudit:
    """Read what :func:`body_of` wrote; raises ProgressError."""
    try:
        return msgspec.msgpack.decode(body, type=KeptAudit, dec_hook=_unpacked)
    except (msgspec.MsgspecError, TypeError, ValueError, RecursionError, CounterfoilError) as error:
        raise ProgressError(
            say("The progress that was kept was written by another version."), remedy=ANEW, detail=str(error)
        ) from error


def _packed(value: Any) -> Any:
    return value.value if isinstance(value, Digest) else pack_sentence(value)


def _unpacked(kind: type, value: Any) -> Sentence | Digest:
    if kind is Digest:
        return Digest(value)
    found = unpack_sentence(value)
    if kind is not Sentence or not isinstance(found, Sentence):
        raise TypeError(f"{kind.__name__} expected")
    return found


ANEW = say("Start the audit anew, without --resume.")


def misfit(why: str) -> ProgressError:
    """Return the error that says that progress contradicts the run whose digest it names."""
    return ProgressError(say("The progress that was kept does not fit the run."), remedy=ANEW, detail=why)
