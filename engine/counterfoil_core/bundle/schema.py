"""The records of a bundle: the order's manifest, the leaf of a step.

Each is canonical JSON (:mod:`counterfoil_core.base.canonical`); each is parsed strictly, since it may come from a
stranger. docs/bundle-format.md says where they lie in the file. A new field is optional and told apart by itself, so
that orders keep their digests (ADR 13).
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from counterfoil_core.base import canonical
from counterfoil_core.base.digest import Digest
from counterfoil_core.base.dtypes import DATA_DTYPES
from counterfoil_core.base.errors import BundleError
from counterfoil_core.base.fields import Fields
from counterfoil_core.base.plaintext import quote
from counterfoil_core.base.precision import AnyPrecision, precision_from_json
from counterfoil_core.base.sentence import say
from counterfoil_core.base.stoprule import StopRule
from counterfoil_core.base.turns import Turns
from counterfoil_core.bundle.extent import Extent
from counterfoil_core.bundle.pattern import MAX_PATTERN, pattern_from_json, pattern_json
from counterfoil_core.bundle.shares import Shares, SharesRoot
from counterfoil_core.bundle.sources import MAX_SOURCES, Source
from counterfoil_core.commit.merkle import MerkleTree, leaf_hash

FORMAT_VERSION = 3
"""Version of the format of bundles: what a file holds beside the records in it."""
MANIFEST_FORMAT = 2
"""Form of the manifest, which the order digest covers: it did not change with version 3 of the file."""
DATA_FORMAT_VERSION = 1
"""Version of the format of data files."""
CAPSULE_FORMAT_VERSION = 3
"""Version of the format of dispute capsules."""
WEIGHTS = "weights"
"""What the manifest says of a last checkpoint without slots."""
MAX_STEPS = 10_000_000
MAX_PROGRAMS = 64
"""Programs that take turns in an order."""
MAX_WORDS = 2000
"""Characters of what an order says in words: title, recipe, optimizer."""
MAX_ENVIRONMENT = 100
"""Lines of what a trainer says of its machine."""
MAX_ENVIRONMENT_TEXT = 10_000
"""Characters of one of its names or values; the longest lists the library's functions that ran."""
NAME_PATTERN = re.compile(r"[A-Za-z0-9_.\-:]{1,200}")
"""What the name of a state tensor or data array looks like; ``.`` and ``..`` are not names."""


def check_name(name: str) -> str:
    """Return ``name`` if it can name a tensor or an array in a bundle.

    Raises:
        BundleError: It cannot: it is empty, long, or holds a character that could be a path.
    """
    if not isinstance(name, str) or not NAME_PATTERN.fullmatch(name) or name in (".", ".."):
        raise BundleError(say("The name {0} is not allowed in a bundle.", quote(str(name))))
    return name


def check_file_name(name: Any) -> str:
    """Return ``name`` if it can name a data file: one printable file name, without a folder.

    Raises:
        BundleError: It cannot.
    """
    good = isinstance(name, str) and 1 <= len(name) <= 200 and name.isprintable() and not set(name) & set("/\\:")
    if not good or name in (".", ".."):
        raise BundleError(say("A data file cannot be called {0}: that is not a plain file name.", quote(str(name))))
    return str(name)


def _fields(value: Any, what: str) -> Fields:
    return Fields(value, what, BundleError)


@dataclass(frozen=True)
class ArraySpec:
    """Dtype name, shape and tensor digest of an array that the order commits to."""

    dtype: str  #: Dtype name.
    shape: tuple[int, ...]  #: Shape.
    digest: Digest  #: Tensor digest.
    #: Name that the client gave to the data file in which the array lies, a hint for people; None when the array lies
    #: in the order.
    file: str | None = None
    rows: Digest | None = None  #: Root over a salted Merkle leaf of each of its rows; None where it has none.

    def to_json(self) -> dict[str, Any]:
        """Return the JSON form."""
        value = {"dtype": self.dtype, "shape": list(self.shape), "digest": self.digest.hex}
        if self.rows is not None:
            value["rows"] = self.rows.hex
        return value if self.file is None else value | {"file": self.file}

    @classmethod
    def from_json(cls, value: Any, what: str, dtypes: tuple[str, ...], *, is_data: bool = False) -> ArraySpec:
        """Read the JSON form.

        Args:
            value: What the manifest has there, of whatever type.
            what: What the array is, for the sentence.
            dtypes: Names of the dtypes that it may have.
            is_data: Whether it is a data array, which may lie in a data file, and whose rows may be leaves.

        Raises:
            BundleError: It is no such form: a field is lacking or one too many, or has a value that it cannot have.
        """
        file = None
        has_rows = is_data and isinstance(value, dict) and "rows" in value
        if is_data and isinstance(value, dict) and "file" in value:
            file = check_file_name(value["file"])
            value = {name: item for name, item in value.items() if name != "file"}
        fields = _fields(value, what)
        rows = fields.digest("rows") if has_rows else None
        dtype = fields.take("dtype", str)
        shape = fields.take("shape", list)
        digest = fields.digest("digest")
        fields.end()
        if dtype not in dtypes:
            raise BundleError(
                say("The {0} has the dtype {1}; supported are {2}.", what, quote(dtype), ", ".join(dtypes))
            )
        if len(shape) > 16 or not all(isinstance(n, int) and not isinstance(n, bool) and 0 <= n < 2**40 for n in shape):
            raise BundleError(say("The shape of the {0} is not a list of lengths.", what))
        if rows is not None and (file is not None or not shape):
            raise BundleError(say("The rows of the {0} are leaves, and it lies in a data file or has no rows.", what))
        return cls(dtype, tuple(shape), digest, file, rows)


@dataclass(frozen=True)
class ModuleNames:
    """Where the tensors of the client's module differ from those of the state: what its files lack, and name twice."""

    tied: Mapping[str, str]  #: Second names of tied tensors, each with the name that the state has for it.
    #: State tensors that files of the module do not hold, sorted: buffers that are not persistent, and constants that
    #: the step met.
    unsaved: tuple[str, ...]

    def to_json(self) -> dict[str, Any]:
        """Return the JSON form."""
        return {"tied": dict(self.tied), "unsaved": list(self.unsaved)}

    @classmethod
    def from_json(cls, value: Any) -> ModuleNames:
        """Read the JSON form; raises BundleError."""
        fields = _fields(value, say("names of the order's module"))
        tied = fields.take("tied", dict)
        unsaved = fields.take("unsaved", list)
        fields.end()
        result = cls(
            {check_name(name): check_name(other) for name, other in tied.items()},
            tuple(check_name(name) for name in unsaved),
        )
        if list(result.unsaved) != sorted(set(result.unsaved)) or not (tied or unsaved):
            raise BundleError(say("The names of the order's module are none, not sorted, or there twice."))
        return result


@dataclass(frozen=True)
class OrderManifest:
    """What the client orders. The order digest is the SHA-256 of its canonical JSON."""

    title: str  #: The client's name for the job.
    recipe: str  #: The recipe that wrote it, for instance ``digits-cnn``.
    optimizer: str  #: The optimizer in words, for people; what counts is the program.
    seed: int  #: Seed of every random draw, 0 to 2^64 - 1.
    steps: int  #: Number of training steps.
    batch_size: int  #: Rows per step.
    commit_every: int  #: The state is digested at every step that this divides, and at the last.
    #: The state is stored at every step that this divides, and at the last; a multiple of commit_every.
    checkpoint_every: int
    precision: AnyPrecision  #: The precision profile.
    programs: Turns[Digest]  #: SHA-256 of each program's canonical JSON, and the pattern in which they take turns.
    schedule: ArraySpec  #: int64 ``[steps, batch_size]``: the dataset rows of each step.
    scalars: ArraySpec  #: float64 ``[steps, len(scalar_names)]``: the per-step scalars.
    scalar_names: tuple[str, ...]  #: Their names, for instance ``lr``.
    data: Mapping[str, ArraySpec]  #: The data arrays by name; the first axis of each is the row.
    data_root: Digest  #: State root over the data arrays.
    initial_root: Digest  #: State root over the initial state.
    #: Where the names of the client's module differ from those of the state; None where they do not.
    module: ModuleNames | None = None
    #: The files that parts of the order (``model``, ``data``) were made from, as the client says; most orders name
    #: none.
    sources: Mapping[str, Source] = field(default_factory=dict)
    #: The rule by which a run ends before its last step; None where it must have all.
    may_stop_early: StopRule | None = None
    #: What the order says of the shares of a step, whose gradient programs ``programs`` are then; None where a step has
    #: one program.
    shares: Shares | None = None
    last_of_weights: bool = False  #: Whether the last checkpoint leaves out the optimizer's slots.

    def __post_init__(self) -> None:
        if self.checkpoint_every % self.commit_every:
            raise BundleError(
                say("checkpoint_every must be a multiple of commit_every, so that every stored state is committed.")
            )
        if self.schedule.shape != (self.steps, self.batch_size):
            raise BundleError(say("The schedule's shape is not (steps, batch size)."))
        if self.scalars.shape != (self.steps, len(self.scalar_names)):
            raise BundleError(say("The per-step scalars' shape is not (steps, number of scalars)."))
        if self.programs.several:
            _check_turns(self.programs, self.steps)
        if self.shares is not None and self.batch_size % self.shares.count:
            raise BundleError(
                say("A step of {0} rows cannot be divided into {1} equal shares.", self.batch_size, self.shares.count)
            )
        if self.shares is not None and self.commit_every != 1:
            raise BundleError(say("An order with shares commits to the state after every step: commit_every is 1."))
        if self.may_stop_early is not None and self.may_stop_early.patience >= self.steps:
            raise BundleError(
                say(
                    "The rule to stop early looks back {0} steps, and the order has {1}: it would never fire.",
                    self.may_stop_early.patience,
                    self.steps,
                )
            )

    @property
    def program(self) -> Digest:
        """The digest of the order's only program; raises ValueError where several take turns."""
        return self.programs.only

    @property
    def program_rows(self) -> int:
        """Rows that the program of a step, or of one of its shares, reads."""
        return self.batch_size if self.shares is None else self.batch_size // self.shares.count

    @property
    def has_row_leaves(self) -> bool:
        """Whether rows of a data array are leaves of a tree of their own, so that the order has a key of salts."""
        return any(spec.rows is not None for spec in self.data.values())

    @property
    def data_file(self) -> str | None:
        """Name of the data file that the order needs; None when it holds all of its data."""
        return next((spec.file for _, spec in sorted(self.data.items()) if spec.file is not None), None)

    @property
    def outside(self) -> dict[str, ArraySpec]:
        """The data arrays that lie in a data file, by name."""
        return {name: spec for name, spec in self.data.items() if spec.file is not None}

    @property
    def extent(self) -> Extent:
        """All steps that are ordered, and the states among them."""
        return self.extent_of(self.steps)

    def extent_of(self, steps: int) -> Extent:
        """The steps of a run that has so many, and the states among them."""
        return Extent(steps, self.commit_every, self.checkpoint_every)

    def to_bytes(self) -> bytes:
        """Return the canonical JSON that the order digest is taken of."""
        return canonical.encode(
            {
                "format": MANIFEST_FORMAT,
                "title": self.title,
                "recipe": self.recipe,
                "optimizer": self.optimizer,
                "seed": str(self.seed),
                "steps": self.steps,
                "batch_size": self.batch_size,
                "commit_every": self.commit_every,
                "checkpoint_every": self.checkpoint_every,
                "precision": self.precision.to_json(),
                **_turns_json(self.programs),
                "schedule": self.schedule.to_json(),
                "scalars": self.scalars.to_json(),
                "scalar_names": list(self.scalar_names),
                "data": {name: spec.to_json() for name, spec in self.data.items()},
                "data_root": self.data_root.hex,
                "initial_root": self.initial_root.hex,
                **({} if self.module is None else {"module": self.module.to_json()}),
                **({"sources": {name: item.to_json() for name, item in self.sources.items()}} if self.sources else {}),
                **({} if self.may_stop_early is None else {"may_stop_early": self.may_stop_early.to_json()}),
                **({} if self.shares is None else {"shares": self.shares.to_json()}),
                **({"last_checkpoint": WEIGHTS} if self.last_of_weights else {}),
            }
        )

    @property
    def digest(self) -> Digest:
        """The order digest."""
        return Digest.of(self.to_bytes())

    @classmethod
    def from_bytes(cls, data: bytes) -> OrderManifest:
        """Read canonical JSON.

        Raises:
            BundleError: A field is missing, unknown, of the wrong type or out of range, or the bytes are not canonical.
        """
        try:
            value = canonical.decode(data)
        except canonical.CanonicalError as error:
            raise BundleError(say("The order's manifest is damaged."), detail=str(error)) from error
        sources = {}
        if isinstance(value, dict) and "sources" in value:
            sources = _sources(value.pop("sources"))
        fields = _fields(value, say("order's manifest"))
        version = fields.take("format", int)
        if version != MANIFEST_FORMAT:
            raise BundleError(
                say("The manifest has format {0}; this Counterfoil reads format {1}.", version, MANIFEST_FORMAT),
                remedy=say("Use a Counterfoil of the version that wrote it."),
            )
        seed = fields.take("seed", str)
        if not re.fullmatch(r"0|[1-9][0-9]{0,19}", seed) or int(seed) >= 2**64:
            raise BundleError(say("The order's seed is not an integer in 0 to 2^64 - 1."))
        names = fields.take("scalar_names", list)
        if len(set(map(str, names))) != len(names):
            raise BundleError(say("Two per-step scalars have the same name."))
        data_specs = {
            check_name(name): ArraySpec.from_json(spec, say("data array {0}", repr(name)), DATA_DTYPES, is_data=True)
            for name, spec in fields.take("data", dict).items()
        }
        programs = _turns_from_json(fields)
        result = cls(
            title=fields.text("title", MAX_WORDS),
            recipe=fields.text("recipe", MAX_WORDS),
            optimizer=fields.text("optimizer", MAX_WORDS),
            seed=int(seed),
            steps=fields.integer("steps", 1, MAX_STEPS),
            batch_size=fields.integer("batch_size", 1, 2**31 - 1),
            commit_every=fields.integer("commit_every", 1, MAX_STEPS),
            checkpoint_every=fields.integer("checkpoint_every", 1, MAX_STEPS),
            precision=precision_from_json(fields.take("precision", dict)),
            programs=programs,
            schedule=ArraySpec.from_json(fields.take("schedule", dict), "schedule", ("int64",)),
            scalars=ArraySpec.from_json(fields.take("scalars", dict), say("per-step scalars"), ("float64",)),
            scalar_names=tuple(check_name(name) for name in names),
            data=data_specs,
            data_root=fields.digest("data_root"),
            initial_root=fields.digest("initial_root"),
            module=ModuleNames.from_json(fields.take("module", dict)) if "module" in value else None,
            sources=sources,
            may_stop_early=StopRule.from_json(fields.take("may_stop_early", dict))
            if fields.has("may_stop_early")
            else None,
            shares=Shares.from_json(fields.take("shares", dict), programs) if fields.has("shares") else None,
            last_of_weights=fields.has("last_checkpoint"),
        )
        if result.last_of_weights and fields.take("last_checkpoint", str) != WEIGHTS:
            raise BundleError(say("The order says of the last checkpoint what no order says."))
        fields.end()
        return result


def _check_turns(programs: Turns[Digest], steps: int) -> None:
    for name in programs.parts:
        check_name(name)
    if not 2 <= len(programs.parts) <= MAX_PROGRAMS:
        raise BundleError(
            say("The order has {0} programs that take turns; it must be 2 to {1}.", len(programs.parts), MAX_PROGRAMS)
        )
    if not 2 <= len(programs.pattern) <= min(MAX_PATTERN, steps):
        raise BundleError(
            say(
                "The pattern of the order's programs has {0} steps; it must have 2 to {1}, and no more than the order.",
                len(programs.pattern),
                MAX_PATTERN,
            )
        )
    for name in sorted(set(programs.pattern) ^ programs.parts.keys()):
        if name in programs.parts:
            raise BundleError(say("The pattern of the order's programs never names {0}.", repr(name)))
        raise BundleError(
            say("The pattern of the order's programs names {0}, which is none of them.", quote(str(name)))
        )


def _turns_json(programs: Turns[Digest]) -> dict[str, Any]:
    if not programs.several:
        return {"program": programs.only.hex}
    return {
        "programs": {name: digest.hex for name, digest in programs.parts.items()},
        "pattern": pattern_json(programs.pattern),
    }


def _turns_from_json(fields: Fields) -> Turns[Digest]:
    """Read the digest of the only program, or those of several and their pattern: one or the other."""
    if not fields.has("programs"):
        return Turns.alone(fields.digest("program"))
    listed, pattern = fields.take("programs", dict), fields.take("pattern", list, str)
    parts = {
        check_name(name): fields.as_digest(text, say("digest of the program {0}", repr(name)))
        for name, text in sorted(listed.items())
    }
    return Turns(parts, pattern_from_json(pattern, parts))


def _sources(value: Any) -> dict[str, Source]:
    if not isinstance(value, dict) or not 1 <= len(value) <= MAX_SOURCES:
        raise BundleError(say("The sources of the order are not a list of files by part."))
    return {check_name(name): Source.from_json(item) for name, item in value.items()}


_STEP_RECORD = say("step record")
_RECORD_DIGESTS = {
    name: say("field {0} of the step record", repr(name)) for name in ("state_root", "log", "fingerprints")
}


@dataclass(frozen=True)
class StepRecord:
    """What the Merkle leaf of one step commits to."""

    step: int  #: Step number; 0 is the initial state, before any training.
    state_root: Digest | None  #: State root after the step; None at steps whose state is not digested.
    log: Digest | None  #: SHA-256 of the step's log bytes; None at step 0.
    fingerprints: Digest | None  #: SHA-256 of the step's fingerprints as little-endian uint64; None at step 0.
    loss: float | None  #: The loss of the step; None at step 0.
    #: What the leaf commits to of the shares of the step; ``log`` and ``fingerprints`` are those of its update then.
    #: None at step 0, and where a step has one program.
    shares: SharesRoot | None = None

    def to_json(self) -> dict[str, Any]:
        """Return the JSON form."""
        return {
            "step": self.step,
            "state_root": self.state_root.hex if self.state_root else None,
            "log": self.log.hex if self.log else None,
            "fingerprints": self.fingerprints.hex if self.fingerprints else None,
            "loss": None if self.loss is None else canonical.float_text(self.loss),
            **({} if self.shares is None else {"shares": self.shares.to_json()}),
        }

    def to_bytes(self) -> bytes:
        """Return the canonical JSON that is the data of the RFC 9162 leaf."""
        return canonical.encode(self.to_json())

    @classmethod
    def from_json(cls, value: Any) -> StepRecord:
        """Read the JSON form; raises BundleError."""
        fields = _fields(value, _STEP_RECORD)
        step = fields.integer("step", 0, MAX_STEPS)
        digests = {}
        for name, what in _RECORD_DIGESTS.items():
            text = fields.take(name, str, type(None))
            digests[name] = None if text is None else fields.as_digest(text, what)
        text = fields.take("loss", str, type(None))
        shares = SharesRoot.from_json(fields.take("shares", dict)) if fields.has("shares") else None
        fields.end()
        try:
            loss = None if text is None else float.fromhex(text)
        except (ValueError, OverflowError) as error:
            raise BundleError(say("The loss of a step record is not a number: {0}.", quote(text))) from error
        result = cls(step, digests["state_root"], digests["log"], digests["fingerprints"], loss, shares)
        if result.to_json() != value:
            raise BundleError(say("The loss of a step record, {0}, is not in canonical form.", quote(str(text))))
        return result


def run_tree(records: Sequence[StepRecord]) -> MerkleTree:
    """Return the tree whose root is the run root: one Merkle leaf per step record, from step 0."""
    return MerkleTree(leaf_hash(record.to_bytes()) for record in records)
