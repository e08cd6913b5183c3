"""Which step of which run each snapshot of a witness is, and which snapshots belong to none; docs/witness.md."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from pathlib import Path

from counterfoil.delivery.location import stored_states
from counterfoil.delivery.signedrecords import signed_records
from counterfoil.delivery.snapshots import WitnessLog, layout_digest
from counterfoil.signing.kinds import Line, Snapshot
from counterfoil_core.base.cancel import CancelToken
from counterfoil_core.base.digest import Digest
from counterfoil_core.base.trouble import obstacles_noticed
from counterfoil_core.bundle.reader import BundleReader
from counterfoil_core.commit.state import chunk_count, chunk_tree
from counterfoil_core.signing.keys import PublicKey
from counterfoil_core.signing.subject import Subject


class By(Enum):
    """How a snapshot was found."""

    STATE = "state"
    """The whole state is that of the step."""
    SHARD = "shard"
    """The shard is that of the step's stored state, and not of all of them; other shards were not compared."""


class Belongs(Enum):
    """What is known of a snapshot."""

    FOUND = "FOUND"
    """It is a step of one of the runs."""
    NONE = "NONE"
    """It is no step of any of the runs."""
    UNKNOWN = "CANNOT_BE_TOLD"
    """It was not found, and the runs do not digest, or store, each state that it could be; or its shard is the same in
    every state that a run stores, as those of frozen tensors are, so that it says nothing of a step."""


@dataclass(frozen=True)
class Seen:
    """A step that a snapshot is."""

    run: str  #: The run's file.
    step: int  #: The step after which the state is so; 0 is the initial state.
    by: By  #: How it was found.


@dataclass(frozen=True)
class Placed:
    """A snapshot and the steps that it is."""

    number: int  #: Which line of the log it is, from 0.
    at: str  #: When it was taken.
    belongs: Belongs  #: What is known of it.
    #: The steps; more than one where a shard does not change, or runs of one order begin alike.
    steps: tuple[Seen, ...]
    #: Whether it is of an earlier step than a snapshot that was taken before: the trainer began anew, or the witness
    #: was shown an old state.
    backwards: bool = False


@dataclass(frozen=True)
class Placement:
    """All snapshots of a log, and the runs that it was held against."""

    snapshots: tuple[Placed, ...]  #: Each with the steps that it is.
    runs: Mapping[str, Subject]  #: Which runs those are, by file.
    complete: bool  #: Whether the witness looked until its recording had become one of the runs.


@dataclass(frozen=True)
class _Looked:
    """One run, held against all snapshots: what was found of each, and which it is certainly not."""

    about: Subject
    steps: dict[int, list[Seen]]
    excluded: frozenset[int]


def place_snapshots(
    log: WitnessLog,
    runs: Sequence[Path],
    cancel: CancelToken | None = None,
    trainer_key: PublicKey | None = None,
) -> Placement:
    """Find the step of every snapshot of a log.

    A snapshot of the whole state is found by its state root wherever a run digests the step. Otherwise its shard is
    compared with every state that a run stores.

    Args:
        log: The log, checked.
        runs: The runs that it could be of.
        cancel: Looked at between tensors.
        trainer_key: The key that must have signed each run; that which it names unless given.

    Raises:
        RefusedError: A run is damaged, or not what its trainer signed.
        GivenFileError: One is an order that nobody has run, or not there.
        CancelledError: ``cancel`` was set.
    """
    looked = [_look(run, log.snapshots, cancel, trainer_key) for run in runs]
    placed: list[Placed] = []
    latest: dict[str, int] = {}
    for line in log.snapshots:
        steps = tuple(seen for each in looked for seen in each.steps.get(line.number, ()))
        if steps:
            belongs = Belongs.FOUND
        else:
            sure = all(line.number in each.excluded for each in looked)
            belongs = Belongs.NONE if sure else Belongs.UNKNOWN
        backwards = bool(steps) and all(seen.step < latest.get(seen.run, 0) for seen in steps)
        if len(steps) == 1:
            latest[steps[0].run] = max(latest.get(steps[0].run, 0), steps[0].step)
        placed.append(Placed(line.number, line.at, belongs, steps, backwards))
    found = {str(run): each.about for run, each in zip(runs, looked, strict=True)}
    return Placement(tuple(placed), found, log.run in found.values())


def _look(run: Path, snapshots: Sequence[Line], cancel: CancelToken | None, trainer_key: PublicKey | None) -> _Looked:
    with obstacles_noticed(), BundleReader.open(run) as reader:
        records, about = signed_records(reader, cancel, trainer_key=trainer_key)
        layout = reader.state_layout()
        own = layout_digest(layout)
        roots: dict[Digest, list[int]] = {}
        for record in records:
            if record.state_root is not None:
                roots.setdefault(record.state_root, []).append(record.step)
        every_digested = all(record.state_root is not None for record in records)
        steps: dict[int, list[Seen]] = {}
        excluded: set[int] = set()
        shards: dict[str, list[Line]] = {}
        for line in snapshots:
            seen = _of(line)
            if seen.state_root in roots:
                steps[line.number] = [Seen(str(run), step, By.STATE) for step in roots[seen.state_root]]
            elif seen.layout == own:
                # The whole state, of which each that is stored has a root: its shard can be found in none.
                if every_digested:
                    excluded.add(line.number)
            elif seen.tensor in layout and seen.chunk < chunk_count(*layout[seen.tensor]):
                shards.setdefault(seen.tensor, []).append(line)
        stored = set()
        for step, state in stored_states(reader, cancel) if shards else ():
            stored.add(step)
            for tensor, lines in shards.items():
                if cancel is not None:
                    cancel.check()
                tree = chunk_tree(state[tensor])
                for line in lines:
                    if tree.leaf(_of(line).chunk) == _of(line).leaf:
                        steps.setdefault(line.number, []).append(Seen(str(run), step, By.SHARD))
        by_shard = {line.number for lines in shards.values() for line in lines}
        if stored.issuperset(record.step for record in records):
            excluded |= by_shard - steps.keys()
        # What no step changes says of none: a hidden training on the same frozen tensors shows them as well.
        unchanged = {number for number in by_shard & steps.keys() if len(steps[number]) == len(stored)}
        return _Looked(about, {number: steps[number] for number in steps.keys() - unchanged}, frozenset(excluded))


def _of(line: Line) -> Snapshot:
    assert line.snapshot is not None
    return line.snapshot
