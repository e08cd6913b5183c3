"""Results of the campaign on several machines: what each part found, as JSON.

While the campaign runs each part is a file of its own in the campaign's folder, so that what is done is not done again.
From there it is collected: a file for each machine, and one for each pair of a machine that recorded and one that
replayed. Files of other machines stay as they are.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, ClassVar, TypeVar

from counterfoil.base.wholefiles import write_whole
from counterfoil_core.values.adjudication import AdjudicationOutcome
from counterfoil_core.values.outcome import Outcome


@dataclass(frozen=True)
class Ordered:
    """A job that was ordered, or that cannot be ordered under a profile."""

    KIND: ClassVar[str] = "ordered"
    job: str  #: Name of the job.
    profile: str  #: Name of the precision profile.
    order: str  #: Digest of the order; empty when there is none.
    refused: str = ""  #: Why there is none.
    machine: str = ""  #: Who wrote it only to compare its digest; empty for the campaign's order.


@dataclass(frozen=True)
class Machine:
    """A machine, and what its self-test found."""

    KIND: ClassVar[str] = "machine"
    machine: str  #: Its name.
    about: str  #: What it is, in words.
    device: str  #: ``cpu`` or ``cuda:0``.
    libraries: str  #: Which libraries its torch computes products with.
    selftest: dict[str, str]  #: What the self-test says under each profile.
    failed: list[str]  #: The profiles under which it found something wrong.
    environment: dict[str, str] = field(default_factory=dict)  #: Versions and switches.


@dataclass(frozen=True)
class Recorded:
    """A run, recorded on a machine."""

    KIND: ClassVar[str] = "recorded"
    job: str  #: Name of the job.
    profile: str  #: Name of the precision profile.
    order: str  #: Digest of the order.
    machine: str  #: Who recorded it.
    tampered: bool  #: Whether the trainer departed from the order.
    steps: int  #: Steps.
    run_root: str  #: The signed run root.
    state_root: str  #: State root after the last step.
    log_entries: int  #: Logged rounding decisions.
    log_bytes: int  #: Size of the logs.
    seconds: float  #: Time it took.


@dataclass(frozen=True)
class Replayed:
    """A run of a machine, audited on a machine."""

    KIND: ClassVar[str] = "replayed"
    job: str  #: Name of the job.
    profile: str  #: Name of the precision profile.
    order: str  #: Digest of the order.
    recorder: str  #: Who recorded the run.
    machine: str  #: Who replayed it.
    tampered: bool  #: Whether the trainer departed from the order.
    run_root: str  #: The signed run root.
    outcome: str  #: What was concluded.
    steps: int  #: Steps that were replayed and judged.
    mismatched: int  #: Steps among these that came out different.
    corrections: int  #: Directions taken from the log.
    contradictions: int  #: Contradictions of the log.
    omissions: int  #: Omissions of the log.
    seconds: float  #: Time it took.
    capsule: str = ""  #: SHA-256 of the dispute capsule; empty when nobody was accused.
    adjudicated: str = ""  #: What this machine says of that capsule.

    @property
    def as_expected(self) -> bool:
        """Whether an honest run was VERIFIED without a word against it, or a tampered one proven to be so."""
        if self.tampered:
            return (
                self.outcome == Outcome.DISPUTED.value
                and bool(self.capsule)
                and self.adjudicated == AdjudicationOutcome.CONFIRMED.value
            )
        spotless = not (self.mismatched or self.contradictions or self.omissions)
        return self.outcome == Outcome.VERIFIED.value and spotless


@dataclass(frozen=True)
class Trained:
    """Ordinary training in float32 on a machine: the control."""

    KIND: ClassVar[str] = "trained"
    job: str  #: Name of the job.
    order: str  #: Digest of the order whose program was trained; empty for eager training.
    machine: str  #: Where.
    state_root: str  #: State root after the last step.
    seconds: float  #: Time it took.


Part = Ordered | Machine | Recorded | Replayed | Trained
_Part = TypeVar("_Part", Ordered, Machine, Recorded, Replayed, Trained)
_KINDS: dict[str, type[Part]] = {kind.KIND: kind for kind in (Ordered, Machine, Recorded, Replayed, Trained)}


def _to_json(part: Part) -> dict[str, Any]:
    return {"kind": part.KIND, **asdict(part)}


def _from_json(value: dict[str, Any]) -> Part:
    return _KINDS[value["kind"]](**{name: item for name, item in value.items() if name != "kind"})


def _write(path: Path, value: object) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    write_whole(path, (json.dumps(value, indent=1, sort_keys=True) + "\n").encode(), what="a result")


def write_part(path: Path, part: Part) -> None:
    """Write the file of one part."""
    _write(path, _to_json(part))


def read_part(path: Path, kind: type[_Part]) -> _Part | None:
    """Read the file of a part; None when that is not done yet."""
    if not path.exists():
        return None
    part = _from_json(json.loads(path.read_text(encoding="utf-8")))
    assert isinstance(part, kind), path
    return part


def parts_of(folder: Path) -> Iterator[Part]:
    """Return the parts in all files below a folder."""
    for path in sorted(folder.rglob("*.json")):
        yield _from_json(json.loads(path.read_text(encoding="utf-8")))


def collected(results: Path) -> Iterator[Part]:
    """Return the parts in the files of a folder of collected results."""
    for path in sorted(results.glob("*.json")):
        yield from _read_file(path)


def _read_file(path: Path) -> list[Part]:
    return [_from_json(value) for value in json.loads(path.read_text(encoding="utf-8"))] if path.exists() else []


def _file_of(part: Part) -> str:
    match part:
        case Ordered(machine=""):
            return "orders.json"
        case Replayed():
            return f"{part.recorder} to {part.machine}.json"
        case _:
            return f"{part.machine}.json"


def _identity(part: Part) -> tuple[str, ...]:
    names = ("job", "profile", "recorder", "machine", "tampered")
    return (part.KIND, *(str(getattr(part, name)) for name in names if hasattr(part, name)))


def collect(folder: Path, results: Path) -> list[Path]:
    """Collect the parts below a folder into a folder of results; what that has of other machines and jobs stays.

    Returns:
        The files that were written.
    """
    files: dict[str, dict[tuple[str, ...], Part]] = {}
    for part in parts_of(folder):
        files.setdefault(_file_of(part), {})[_identity(part)] = part
    written = []
    for name, found in sorted(files.items()):
        before = {_identity(part): part for part in _read_file(results / name)}
        _write(results / name, [_to_json(part) for _, part in sorted((before | found).items())])
        written.append(results / name)
    return written
