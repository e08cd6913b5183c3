"""A plain run as values: what it is asked to do, and what it says of a script at each border and at its end."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

Generators = Mapping[str, bytes]
"""Where the generators of Python, numpy and torch are, by these names."""
Listed = tuple[tuple[str, str, tuple[int, ...]], ...]
"""Names, dtypes and shapes of tensors that were written down, in their order."""


@dataclass(frozen=True)
class Request:
    """What a plain run is asked to do."""

    script: Path  #: The script.
    arguments: tuple[str, ...] = ()  #: Its arguments.
    most_steps: int | None = None  #: Most steps; None for all.
    seconds: float | None = None  #: How long steps are watched; None for any time.
    dump: tuple[int, ...] | None = None  #: The borders at which the state is written down; None for none at all.
    generators: Generators = field(default_factory=dict)  #: Where they begin; empty for wherever they are.
    other_hashes: bool = False  #: Whether texts have other hashes than elsewhere.
    network: bool = True  #: Whether there is one.
    evaluates: bool = False  #: Whether the script scores a model, and trains none.
    held: tuple[str, ...] = ()  #: Names of modules that are not trained, and are state from the beginning.


@dataclass(frozen=True)
class Update:
    """A call of an optimizer's ``step``."""

    optimizer: int  #: Its number, in the order in which they were made.
    rates: tuple[float, ...]  #: The learning rate of each group.
    settings: str  #: All settings of the groups, as text.


@dataclass(frozen=True)
class Failure:
    """What a script itself raised."""

    sentence: str  #: What, as part of a sentence.
    place: str  #: File and line; empty where none is known.
    detail: str  #: The traceback.


@dataclass(frozen=True)
class Border:
    """What a script did in a step, and what it holds then."""

    number: int  #: Of the step, from 1; 0 for what was before the first.
    seconds: float = 0.0  #: How long the step took.
    calls: tuple[str, ...] = ()  #: What it called, as texts.
    #: What an evaluation added to each of its floating-point numbers, by name.
    sums: tuple[tuple[str, float], ...] = ()
    updates: tuple[Update, ...] = ()  #: The calls of optimizers.
    losses: tuple[float, ...] = ()  #: What ``backward`` was called on.
    #: What Python asked of tensors that were made of the state: file and line, and the answer.
    answers: tuple[tuple[str, bool | int | float | None], ...] = ()
    drawn: tuple[tuple[str, str, str], ...] = ()  #: Kind, file and line and digest of what was drawn for models.
    digest: str = ""  #: Of everything that it holds.
    models: str = ""  #: Digest of its models alone.
    generators: Generators = field(default_factory=dict)  #: Where those are that have moved.
    lost: tuple[str, ...] = ()  #: Draws of its models that no order has.
    #: Names of tensors of modules that are not trained, and were written by what was made of the state.
    held: tuple[str, ...] = ()
    #: File and line at which each tensor was written last, by its name in the plain run.
    written: Mapping[str, str] = field(default_factory=dict)
    elsewhere: tuple[str, ...] = ()  #: Where another thread made a step of an optimizer.
    early: tuple[str, ...] = ()  #: Where an optimizer made a step before the first one began.
    processes: tuple[str, ...] = ()  #: Where a script that trained nothing started processes.
    state: Listed | None = None  #: What was written down; None where nothing was.
    draws: Listed | None = None  #: Likewise, of the numbers drawn.
    is_end: bool = False  #: Whether the script has ended there: what it holds is what is left.
    failure: Failure | None = None  #: What it raised at its end; None for nothing.
    generators_now: Generators = field(default_factory=dict)  #: Where all of these generators are.


@dataclass(frozen=True)
class Files:
    """Files that a script used: names, and the step in which it did first."""

    reads: Mapping[str, int] = field(default_factory=dict)  #: Those that it read.
    writes: Mapping[str, int] = field(default_factory=dict)  #: Those that it wrote.
    stale: tuple[str, ...] = ()  #: Those that it read before it wrote them.


@dataclass(frozen=True)
class Beginning:
    """Where the generators are when a script begins."""

    generators: Generators


Said = Beginning | Border | Files
"""What a plain run says, in this order; of borders any number."""
