"""The step table: all that is known of each step of a run, as columns of numbers, keyed by step.

It begins with what the trainer recorded (:class:`Recorded`), and the replay puts in what each step gave. Everything
that is said of several steps is a property of it: how many were judged, how many match, the sums over their logs. So a
number has one definition, wherever it is shown.

A row takes some 170 bytes; an object for each would take 760 (measured).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from enum import Enum
from typing import Any

import numpy as np
import numpy.typing as npt

from counterfoil_core.base.digest import DIGEST_BYTES, Digest

Floats = npt.NDArray[np.float64]
Integers = npt.NDArray[np.int64]


class StepMatch(Enum):
    """How a step's Merkle leaf compares."""

    MATCH = "match"
    """The replay's leaf equals the trainer's."""
    MISMATCH = "mismatch"
    """The replay's leaf differs from the trainer's."""
    UNJUDGED = "unjudged"
    """The step lies between a disputed one and the next checkpoint: the trainer's state before it is not stored."""


@dataclass(frozen=True)
class StepRow:
    """A row of the table: the result of one step."""

    step: int  #: Step number, from 1.
    match: StepMatch  #: How the leaf compares.
    trainer_leaf: Digest  #: The trainer's Merkle leaf hash.
    replay_leaf: Digest | None  #: The replay's Merkle leaf hash; None when the step was not replayed.
    trainer_loss: float  #: The loss the trainer recorded.
    replay_loss: float  #: The loss of the replay; not a number when the step was not replayed.
    log_entries: int  #: Logged rounding decisions of the step; 0 when the step was not replayed.
    log_bytes: int  #: Size of the step's log.
    corrections: int  #: Logged directions that differed from this machine's own rounding.
    contradictions: int  #: Log entries that no honest trainer would write.
    omissions: int  #: Values close to a midpoint that the trainer did not log.
    rounded_values: int  #: Number of values that were rounded in the step.
    seconds: float  #: Wall-clock time of the step's replay.
    #: Entries whose own value is so far from the midpoint that honest hardware agrees on the direction.
    steerable: int = 0
    steered: int = 0  #: Corrections among these.


@dataclass(frozen=True, eq=False)
class Recorded:
    """The columns that the trainer filled, from step 1. Not to be changed."""

    trainer_loss: Floats  #: float64 ``[steps]``: the recorded losses.
    log_bytes: Integers  #: int64 ``[steps]``: the size of each log.
    log_entries: Integers  #: int64 ``[steps]``: the number of logged decisions of each step, as the trainer says.
    #: uint8 ``[steps, 32]``: the Merkle leaves; zeros where they were not computed from what is recorded.
    trainer_leaf: npt.NDArray[np.uint8]

    @classmethod
    def of(
        cls,
        trainer_loss: npt.ArrayLike = (),
        log_bytes: npt.ArrayLike = (),
        log_entries: npt.ArrayLike = (),
        leaves: Sequence[Digest] = (),
    ) -> Recorded:
        """Take columns of numbers of any kind, all of one length; no leaves where they are not known."""
        losses = np.array(trainer_loss, np.float64)
        known = _leaves(leaves) if leaves else np.zeros((len(losses), DIGEST_BYTES), np.uint8)
        return cls(losses, np.array(log_bytes, np.int64), np.array(log_entries, np.int64), known)

    def __len__(self) -> int:
        return len(self.trainer_loss)

    @property
    def all_log_entries(self) -> int:
        """Logged decisions of all steps."""
        return sum(self.log_entries.tolist())  # as Python's integers, which do not overflow

    @property
    def all_log_bytes(self) -> int:
        """Bytes of the logs of all steps."""
        return sum(self.log_bytes.tolist())

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Recorded):
            return NotImplemented
        return (
            np.array_equal(self.trainer_loss, other.trainer_loss, equal_nan=True)
            and np.array_equal(self.log_bytes, other.log_bytes)
            and np.array_equal(self.log_entries, other.log_entries)
            and np.array_equal(self.trainer_leaf, other.trainer_leaf)
        )

    __hash__ = None  # type: ignore[assignment]  # equal by value, as the arrays are


@dataclass(frozen=True)
class Tally:
    """Sums over the steps of a table. The log is judged on steps whose leaf matched: elsewhere it belongs to others."""

    judged: int = 0  #: Steps that were compared with the trainer's from an agreed state.
    mismatched: tuple[int, ...] = ()  #: Those whose leaf differed, ascending.
    corrections: int = 0  #: Sum over matching steps.
    contradictions: int = 0  #: Sum over matching steps.
    omissions: int = 0  #: Sum over matching steps.
    log_entries: int = 0  #: Sum over matching steps.
    log_bytes: int = 0  #: Sum over matching steps.
    rounded_values: int = 0  #: Sum over matching steps.


_NAMES = tuple(item.name for item in fields(StepRow))
_SUMMED = tuple(item.name for item in fields(Tally) if item.name in _NAMES)
_FLOATS = tuple(item.name for item in fields(StepRow) if item.type == "float")
_INTEGERS = tuple(item.name for item in fields(StepRow) if item.type == "int" and item.name != "step")
_LEAVES = ("trainer_leaf", "replay_leaf")
_RECORDED = tuple(item.name for item in fields(Recorded))
_MATCHES = tuple(StepMatch)
_NONE, _MATCH, _MISMATCH, _UNJUDGED = range(len(_MATCHES) + 1)
"""How a match stands in its column: its place in the enumeration, from 1; 0 where a step has no row."""
_NOT_REPLAYED, _OWN_LEAF, _TRAINER_LEAF = range(3)
"""How a replay's leaf stands in a packed table."""


class StepTable:
    """The steps of one run. A row is put in once, in constant time, and never changes.

    Args:
        recorded: What the trainer recorded; it is copied. None for a run that is not known, which has no steps.
    """

    def __init__(self, recorded: Recorded | None = None) -> None:
        recorded = Recorded.of() if recorded is None else recorded
        self._steps = steps = len(recorded)
        self._columns: dict[str, npt.NDArray[Any]] = {
            # Memory of zeros is only taken where something is written.
            **{name: np.zeros(steps, np.float64) for name in _FLOATS},
            **{name: np.zeros(steps, np.int64) for name in _INTEGERS},
            "replay_leaf": np.zeros((steps, DIGEST_BYTES), np.uint8),
            **{name: getattr(recorded, name).copy() for name in _RECORDED},
            "replayed": np.zeros(steps, np.bool_),
        }
        self._match = np.zeros(steps, np.uint8)
        self._done = 0
        self._last = 0

    def __len__(self) -> int:
        """Number of steps of the run, whether they have a row or not."""
        return self._steps

    def trainer_leaf(self, step: int) -> Digest | None:
        """The trainer's Merkle leaf of a step; None where neither the recording nor a row says it."""
        leaf = self._columns["trainer_leaf"][step - 1]
        return Digest(leaf.tobytes()) if leaf.any() else None

    # What is known of the whole

    @property
    def done(self) -> int:
        """How many steps have a row."""
        return self._done

    @property
    def last(self) -> int:
        """The step whose row was put in last; 0 while there is none."""
        return self._last

    @property
    def replayed(self) -> int:
        """How many steps have a leaf of the replay's own."""
        return int(np.count_nonzero(self._columns["replayed"] & self.has_row))

    @property
    def judged(self) -> int:
        """How many steps were compared with the trainer's from an agreed state: matching ones and mismatches."""
        return self.matching + self.mismatches

    @property
    def matching(self) -> int:
        """How many steps match."""
        return int(np.count_nonzero(self.matches))

    @property
    def mismatches(self) -> int:
        """How many steps do not match."""
        return int(np.count_nonzero(self.differs))

    @property
    def mismatched(self) -> tuple[int, ...]:
        """The steps that do not match, ascending."""
        return tuple((np.flatnonzero(self.differs) + 1).tolist())

    def total(self, name: str) -> int:
        """Return the sum of a column of integers over the matching steps."""
        return sum(self._columns[name][self.matches].tolist())  # as Python's integers, which do not overflow

    def mismatches_before(self, step: int) -> int:
        """Return how many steps before one differ."""
        return int(np.count_nonzero(self.differs[: step - 1]))

    def tally(self) -> Tally:
        """Return what a conclusion is drawn from."""
        return Tally(self.judged, self.mismatched, **{name: self.total(name) for name in _SUMMED})

    # Columns

    @property
    def has_row(self) -> npt.NDArray[np.bool_]:
        """Bool ``[steps]``: whether a step has a row."""
        return np.not_equal(self._match, _NONE)

    @property
    def matches(self) -> npt.NDArray[np.bool_]:
        """Bool ``[steps]``: whether a step matches."""
        return np.equal(self._match, _MATCH)

    @property
    def differs(self) -> npt.NDArray[np.bool_]:
        """Bool ``[steps]``: whether a step does not match."""
        return np.equal(self._match, _MISMATCH)

    @property
    def unjudged(self) -> npt.NDArray[np.bool_]:
        """Bool ``[steps]``: whether a step has a row and says nothing of the trainer."""
        return np.equal(self._match, _UNJUDGED)

    def column(self, name: str) -> npt.NDArray[Any]:
        """Return a column of numbers ``[steps]``, named as in :class:`StepRow`; not to be changed.

        What the trainer recorded is known of every step; anything else means nothing where a step has no row.
        """
        return self._columns[name]

    def counted(self, name: str) -> Floats:
        """Return a count of each step, float64 ``[steps]``: not a number but in matching steps.

        The log of a step that differs belongs to other values, so its counts say nothing of the trainer.
        """
        return np.where(self.matches, self._columns[name].astype(np.float64), np.nan)

    @property
    def replay_loss(self) -> Floats:
        """float64 ``[steps]``: the losses of the replay; not a number where a step was not replayed."""
        return np.where(self._columns["replayed"] & self.has_row, self._columns["replay_loss"], np.nan)

    # Rows

    def put(self, rows: Sequence[StepRow]) -> None:
        """Put in the results of steps.

        Raises:
            IndexError: A step is none of the run.
            ValueError: A step has a row already.
        """
        if not rows:
            return
        places = np.array([row.step for row in rows]) - 1
        if places.min() < 0 or places.max() >= self._steps:
            raise IndexError("a step that the run does not have")
        if self._match[places].any():
            raise ValueError("a step that has a row already")
        if len(np.unique(places)) < len(places):
            raise ValueError("a step that comes twice")
        replayed = np.array([row.replay_leaf is not None for row in rows])
        for name in (*_FLOATS, *_INTEGERS):
            if name != "log_entries":
                self._columns[name][places] = [getattr(row, name) for row in rows]
        # Where nothing was replayed nothing was counted: what the trainer says stays.
        self._columns["log_entries"][places[replayed]] = [row.log_entries for row in rows if row.replay_leaf]
        self._columns["trainer_leaf"][places] = _leaves([row.trainer_leaf for row in rows])
        self._columns["replay_leaf"][places[replayed]] = _leaves([row.replay_leaf for row in rows if row.replay_leaf])
        self._columns["replayed"][places] = replayed
        self._match[places] = [1 + _MATCHES.index(row.match) for row in rows]
        self._done += len(rows)
        self._last = rows[-1].step

    def row(self, step: int) -> StepRow | None:
        """Return the row of a step; None where it has none, and outside the run."""
        place = step - 1
        if not 0 <= place < self._steps or self._match[place] == _NONE:
            return None
        columns = self._columns
        theirs, ours = (columns[name][place].tobytes() for name in _LEAVES)
        numbers = {name: columns[name].item(place) for name in (*_FLOATS, *_INTEGERS)}
        replayed = columns["replayed"].item(place)
        if not replayed:
            numbers["log_entries"] = 0
        return StepRow(
            step, _MATCHES[self._match[place] - 1], Digest(theirs), Digest(ours) if replayed else None, **numbers
        )

    def rows(self) -> Iterator[StepRow]:
        """Yield the rows, by step."""
        for place in np.flatnonzero(self.has_row).tolist():
            row = self.row(place + 1)
            assert row is not None
            yield row

    def snapshot(self) -> StepTable:
        """Return the table as it is now; what is put in later is not in it. Another thread may read it.

        It costs 25 bytes a step: rows never change, so only what says which steps have one is copied, and what the
        trainer recorded.
        """
        result = StepTable.__new__(StepTable)
        result._steps, result._done, result._last = self._steps, self._done, self._last
        result._match = self._match.copy()
        result._columns = {**self._columns, **{name: self._columns[name].copy() for name in _RECORDED}}
        return result

    # As columns and as bytes

    def columns(self) -> dict[str, npt.NDArray[Any]]:
        """Return everything that the table holds, by column, for :meth:`of_columns`; not to be changed."""
        return {**self._columns, "match": self._match}

    @classmethod
    def of_columns(cls, columns: Mapping[str, npt.NDArray[Any]], last: int) -> StepTable:
        """Return the table that :meth:`columns` gave.

        Args:
            columns: The columns.
            last: What :attr:`last` is.

        Raises:
            ValueError: They are not those of a step table.
        """
        result = cls()
        wanted = result.columns()
        steps = len(columns.get("match", ()))
        if set(columns) != set(wanted) or any(
            column.dtype != wanted[name].dtype or column.shape != (steps, *wanted[name].shape[1:])
            for name, column in columns.items()
        ):
            raise ValueError("other columns than those of a step table")
        if steps and columns["match"].max() > len(_MATCHES):
            raise ValueError("a match of no known kind")
        result._columns = {name: column for name, column in columns.items() if name != "match"}
        result._match = columns["match"]
        result._steps, result._done, result._last = steps, int(np.count_nonzero(result._match)), last
        return result

    def pack(self, last: int) -> dict[str, bytes]:
        """Return the rows of the steps up to ``last``, by column, for :func:`unpack`.

        A leaf of the replay's that is the trainer's is left out, as the trainer's are: the run itself holds them.
        """
        places = np.flatnonzero(self.has_row[:last])
        replayed = self._columns["replayed"][places]
        own = self._columns["replay_leaf"][places]
        other = replayed & (own != self._columns["trainer_leaf"][places]).any(axis=1)
        kinds = np.where(other, _OWN_LEAF, np.where(replayed, _TRAINER_LEAF, _NOT_REPLAYED))
        packed = {name: self._columns[name][places] for name in (*_FLOATS, *_INTEGERS)}
        packed["log_entries"] = np.where(replayed, packed["log_entries"], 0)
        return {
            "step": (places + 1).astype("<i8").tobytes(),
            "match": self._match[places].tobytes(),
            "leaf": kinds.astype(np.uint8).tobytes(),
            "own_leaves": own[other].tobytes(),
            **{name: column.astype(column.dtype.newbyteorder("<")).tobytes() for name, column in packed.items()},
        }


def packed_steps(packed: Mapping[str, bytes]) -> Integers:
    """Return the steps of a packed table; raises ValueError when it is none."""
    if set(packed) != {"step", "match", "leaf", "own_leaves", *_FLOATS, *_INTEGERS}:
        raise ValueError("other columns than those of a step table")
    steps = np.frombuffer(packed["step"], "<i8").astype(np.int64)
    match, leaf = (np.frombuffer(packed[name], np.uint8) for name in ("match", "leaf"))
    lengths = {len(packed[name]) for name in (*_FLOATS, *_INTEGERS)}
    own = int(np.count_nonzero(leaf == _OWN_LEAF))
    if lengths != {8 * len(steps)} or {len(match), len(leaf)} != {len(steps)}:
        raise ValueError("columns of different lengths")
    if len(packed["own_leaves"]) != DIGEST_BYTES * own:
        raise ValueError("other leaves than it names")
    if len(steps) and (match.min() == _NONE or match.max() > len(_MATCHES) or leaf.max() > _TRAINER_LEAF):
        raise ValueError("a match or a leaf of no known kind")
    return steps


def packed_judged(packed: Mapping[str, bytes]) -> int:
    """Return how many rows of a packed table are of judged steps."""
    match = np.frombuffer(packed["match"], np.uint8)
    return int(np.count_nonzero((match == _MATCH) | (match == _MISMATCH)))


def unpack(packed: Mapping[str, bytes], trainer_leaf: Callable[[int], Digest]) -> Iterator[StepRow]:
    """Yield the rows of a packed table.

    Args:
        packed: What :meth:`StepTable.pack` returned.
        trainer_leaf: Returns the trainer's Merkle leaf of a step.

    Raises:
        ValueError: It is no packed table.
    """
    steps = packed_steps(packed).tolist()
    match, leaf = (packed[name] for name in ("match", "leaf"))
    numbers = {name: np.frombuffer(packed[name], "<f8").tolist() for name in _FLOATS}
    numbers |= {name: np.frombuffer(packed[name], "<i8").tolist() for name in _INTEGERS}
    own = (packed["own_leaves"][at : at + DIGEST_BYTES] for at in range(0, len(packed["own_leaves"]), DIGEST_BYTES))
    for place, step in enumerate(steps):
        theirs = trainer_leaf(step)
        replay: Digest | None = None
        if leaf[place] != _NOT_REPLAYED:
            replay = theirs if leaf[place] == _TRAINER_LEAF else Digest(next(own))
        yield StepRow(
            step=step,
            match=_MATCHES[match[place] - 1],
            trainer_leaf=theirs,
            replay_leaf=replay,
            **{name: column[place] for name, column in numbers.items()},
        )


def _leaves(digests: Sequence[Digest]) -> npt.NDArray[np.uint8]:
    """uint8 ``[n, 32]``."""
    return np.frombuffer(b"".join(each.value for each in digests), np.uint8).reshape(-1, DIGEST_BYTES)
