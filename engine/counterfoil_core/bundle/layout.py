"""Where the parts of a bundle lie in the file, and the check that a file holds these parts and nothing else.

Pure: works on the file's inventory and the order's manifest.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from counterfoil_core.base.digest import DIGEST_BYTES
from counterfoil_core.base.dtypes import STATE_DTYPES
from counterfoil_core.base.errors import BundleError
from counterfoil_core.base.sentence import say
from counterfoil_core.base.turns import ALONE
from counterfoil_core.bundle.extent import Extent
from counterfoil_core.bundle.hdf5.format import DatasetInfo
from counterfoil_core.bundle.hdf5.walk import Inventory
from counterfoil_core.bundle.kind import BUNDLE, CAPSULE as CAPSULE_FILE, FileKind
from counterfoil_core.bundle.lastcheckpoint import slots_to_leave_out
from counterfoil_core.bundle.schema import OrderManifest
from counterfoil_core.bundle.shares import HASH_BYTES, SIGNATURE_BYTES, Shares
from counterfoil_core.commit.rowtree import ROW_KEY_BYTES, SALT_BYTES

ORDER = "/order"
MANIFEST = "/order/manifest"
PROGRAM = "/order/program"
PROGRAMS = "/order/programs"
"""Where the order holds several: by their names."""
UPDATE = "/order/update"
"""Where steps have shares: what is done with what they give, the update program."""
UPDATES = "/order/updates"
"""Where such an order holds several: by the names of the programs."""
SIGNATURE = "/order/signature"
"""The client's signature on the order, where there is one."""
SCHEDULE = "/order/schedule"
SCALARS = "/order/scalars"
DATA = "/order/data"
ROW_KEY = "/order/row_key"
"""Where rows are leaves of a tree of their own: the key of their salts."""
INITIAL = "/order/initial"
RUN = "/run"
ACCEPTANCE = "/run/acceptance"
CLAIM = "/run/claim"
STATE_ROOTS = "/run/state_roots"
LOSSES = "/run/losses"
LOG = "/run/log"
LOG_ENDS = "/run/log_ends"
LOG_ENTRIES = "/run/log_entries"
FINGERPRINTS = "/run/fingerprints"
CHECKPOINTS = "/run/checkpoints"
LEFT_OUT = "/run/left_out"
"""Where the last checkpoint holds the weights alone: the records of the slots."""
SHARES = "/run/shares"
SHARE_ROOTS = "/run/shares/roots"
SHARE_NUMBERS = "/run/shares/numbers"
SHARE_LOG_ENDS = "/run/shares/log_ends"
SHARE_FINGERPRINTS = "/run/shares/fingerprints"
EXPONENTS = "/run/shares/exponents"
COMBINED = "/run/shares/combined"
SHARE_SIGNATURES = "/run/shares/signatures"
"""Where parties answer for shares: what they signed."""
SUMS_SEEN = "/run/shares/sums"
SUM_SIGNATURES = "/run/shares/sum_signatures"
ADDED = "/run/shares/added"
"""Where parties answer for shares that are added: what they signed of the sum."""
ARRAYS = "/data"
"""Of a data file: its arrays."""
CAPSULE = "/capsule"
CAPSULE_LEAVES = "/capsule/leaves"
CAPSULE_STATE = "/capsule/state"
CAPSULE_LOG = "/capsule/log"
CAPSULE_LOG_ENDS = "/capsule/log_ends"
CAPSULE_FINGERPRINTS = "/capsule/fingerprints"
CAPSULE_SCHEDULE = "/capsule/schedule"
CAPSULE_SCALARS = "/capsule/scalars"
CAPSULE_DATA = "/capsule/data"
CAPSULE_SHARES = "/capsule/shares"
"""Of a capsule about a part of a step that shares make: the records of all shares."""
CAPSULE_COMBINED = "/capsule/combined"
"""Of one about an update: what the shares gave, combined."""
CAPSULE_BUFFERS = "/capsule/buffers"
"""Of the same: the state tensors that share 0 changed."""
CAPSULE_TENSOR = "/capsule/tensor"
"""Of one about a sum: what each share gives of one tensor."""
CAPSULE_SUMS = "/capsule/sums"
"""Of the same: what was signed of all sums."""
CAPSULE_EXPONENTS = "/capsule/sums/exponents"
CAPSULE_SUM_DIGESTS = "/capsule/sums/combined"
CAPSULE_SHARE_DIGESTS = "/capsule/sums/shares"
CAPSULE_SUM_SEEN = "/capsule/sums/seen"
CAPSULE_ADDED = "/capsule/sums/added"
CAPSULE_SUM_SIGNATURES = "/capsule/sums/signatures"
CHUNK_INDICES = "indices"
"""In a group of proven chunks: their numbers."""
CHUNK_BYTES = "chunks"
"""In such a group: their bytes, one chunk after the other."""
CHUNKS_ROOT = "root"
"""In such a group: the root over all chunks of the array."""
CHUNK_PROOFS = "proofs"
"""In such a group: their inclusion proofs, one after the other."""
ROW_NUMBERS = "rows"
"""In a group of proven rows: their numbers."""
ROW_VALUES = "values"
"""In such a group: their bytes, one row after the other."""
ROW_SALTS = "salts"
"""In such a group: their salts."""
ROW_PROOFS = "proofs"
"""In such a group: their inclusion proofs, one after the other."""

MAX_MANIFEST_BYTES = 16 * 2**20
MAX_PROGRAM_BYTES = 80 * 2**20
MAX_PROGRAMS_BYTES = 16 * MAX_PROGRAM_BYTES
"""All programs of an order; read, they take a multiple of it."""
MAX_CLAIM_BYTES = 2**20
MAX_CONSENT_BYTES = 2**14
"""A client's signature or a trainer's acceptance has some 800 bytes."""
MAX_LEAVES_BYTES = 16 * 2**20
MAX_LEFT_OUT_BYTES = 2**26
"""A record has some 200 bytes, and a file 200,000 objects."""
MAX_RECORDS_BYTES = 2**20
"""The records of 1,024 shares have some 450 bytes each."""


def program_path(name: str) -> str:
    """Return the path of a program; an order's only one has no name."""
    return f"{PROGRAMS}/{name}" if name != ALONE else PROGRAM


def update_path(name: str) -> str:
    """Return the path of an update program; that of an order's only program has no name."""
    return f"{UPDATES}/{name}" if name != ALONE else UPDATE


def fingerprints_path(name: str, of: str = FINGERPRINTS) -> str:
    """Return the path of the fingerprints, or of another column, of the steps that a program has."""
    return f"{of}/{name}" if name != ALONE else of


def checkpoint_path(step: int) -> str:
    """Return the path of the group that holds the state after ``step``."""
    return f"{CHECKPOINTS}/{step:010d}"


@dataclass(frozen=True)
class _Part:
    """What a dataset must look like; None stands for any length."""

    dtype: str
    shape: tuple[int | None, ...]
    most: int | None = None

    def check(self, path: str, found: DatasetInfo) -> None:
        fits = len(found.shape) == len(self.shape) and all(
            want is None or want == have for want, have in zip(self.shape, found.shape, strict=True)
        )
        if found.dtype != self.dtype or not fits:
            wanted = ", ".join("any" if length is None else str(length) for length in self.shape)
            raise BundleError(
                say(
                    "{0} has the dtype {1} and the shape {2}; it should have {3} and [{4}].",
                    path,
                    found.dtype,
                    list(found.shape),
                    self.dtype,
                    wanted,
                )
            )
        if self.most is not None and math.prod(found.shape) > self.most:
            raise BundleError(say("{0} is longer than {1} bytes.", path, self.most))


_PROGRAM = _Part("uint8", (None,), MAX_PROGRAM_BYTES)
_CONSENT = _Part("uint8", (None,), MAX_CONSENT_BYTES)
_Parts = dict[str, dict[str, _Part]]
"""What a file must hold: by path of the group, the datasets right in it by name."""


def _parts(datasets: Mapping[str, _Part], groups: Iterable[str]) -> _Parts:
    """Sort datasets, given by path, into their groups; ``groups`` are there even when they are empty."""
    parts: _Parts = {group: {} for group in groups}
    for path, part in datasets.items():
        group, _, name = path.rpartition("/")
        parts.setdefault(group, {})[name] = part
    return parts


def check_manifest_part(inventory: Inventory) -> None:
    """Check that the manifest is there and not too large, so that it can be read first; raises BundleError."""
    found = inventory.find(MANIFEST)
    if found is None:
        raise BundleError(say("The file lacks {0}.", MANIFEST))
    _Part("uint8", (None,), MAX_MANIFEST_BYTES).check(MANIFEST, found.info)


def members(inventory: Inventory, group: str) -> dict[str, DatasetInfo]:
    """Return the datasets right in ``group``, by name, sorted."""
    return {name: stored.info for name, stored in inventory.groups.get(group, {}).items()}


def check_layout(inventory: Inventory, manifest: OrderManifest) -> None:
    """Check that the file holds exactly the parts that its order calls for, each of the right dtype and shape.

    Raises:
        BundleError: A part is missing, unknown, or of another dtype or shape.
    """
    inside = {name: spec for name, spec in manifest.data.items() if spec.file is None}
    parts = _parts(
        {
            MANIFEST: _Part("uint8", (None,), MAX_MANIFEST_BYTES),
            **{program_path(name): _PROGRAM for name in manifest.programs.parts},
            **{update_path(name): _PROGRAM for name in manifest.programs.parts if manifest.shares is not None},
            **_signature(inventory),
            SCHEDULE: _Part(manifest.schedule.dtype, manifest.schedule.shape),
            SCALARS: _Part(manifest.scalars.dtype, manifest.scalars.shape),
            **{f"{DATA}/{name}": _Part(spec.dtype, spec.shape) for name, spec in inside.items()},
            **({ROW_KEY: _Part("uint8", (ROW_KEY_BYTES,))} if manifest.has_row_leaves else {}),
        },
        ("/", DATA),
    )
    # A run may leave it to the order, which its trainer and its auditor have.
    if INITIAL in inventory.groups or RUN not in inventory.groups:
        parts[INITIAL] = _state(inventory, INITIAL, "initial state")
    if RUN in inventory.groups:
        parts |= _run(inventory, manifest, parts.get(INITIAL))
    _compare(inventory, parts, BUNDLE)
    _check_programs(inventory)


def check_capsule_layout(inventory: Inventory, manifest: OrderManifest) -> None:
    """Check that a file holds exactly the parts of a capsule, each of the right dtype and rank.

    How long they are, and which of several programs are needed, follows from the steps, which are read later.

    Raises:
        BundleError: A part is missing, unknown, or of another dtype or shape.
    """
    datasets = {
        MANIFEST: _Part("uint8", (None,), MAX_MANIFEST_BYTES),
        **_signature(inventory),
        ACCEPTANCE: _CONSENT,
        CLAIM: _Part("uint8", (None,), MAX_CLAIM_BYTES),
        CAPSULE_LEAVES: _Part("uint8", (None,), MAX_LEAVES_BYTES),
    }
    if manifest.shares is not None:
        datasets[CAPSULE_SHARES] = _Part("uint8", (None,), MAX_RECORDS_BYTES)
    if manifest.shares is not None and CAPSULE_TENSOR in inventory.groups:
        parts = _sum_of_shares(inventory, datasets, manifest.shares)
    else:
        parts = _replayed_steps(inventory, datasets, manifest)
    _compare(inventory, parts, CAPSULE_FILE)
    _check_programs(inventory)


def _sum_of_shares(inventory: Inventory, datasets: Mapping[str, _Part], shares: Shares) -> _Parts:
    """Return what a capsule about the sum of what shares give of a tensor holds; ``datasets`` are what all hold."""
    sums = {
        CAPSULE_EXPONENTS: _Part("int32", (None,)),
        CAPSULE_SUM_DIGESTS: _Part("uint8", (None, DIGEST_BYTES)),
        CAPSULE_SHARE_DIGESTS: _Part("uint8", (shares.count, None, DIGEST_BYTES)),
    }
    if shares.signers:
        sums |= {
            CAPSULE_SUM_SEEN: _Part("uint8", (DIGEST_BYTES,)),
            CAPSULE_ADDED: _Part("uint8", (shares.count, None, HASH_BYTES)),
            CAPSULE_SUM_SIGNATURES: _Part("uint8", (shares.count, SIGNATURE_BYTES)),
        }
    given = members(inventory, CAPSULE_TENSOR)
    if len(given) != 1 or any(info.dtype != "float32" or info.shape[:1] != (shares.count,) for info in given.values()):
        raise BundleError(
            say("{0} does not hold what {1} shares give of one tensor, in float32.", CAPSULE_TENSOR, shares.count)
        )
    return _parts({**datasets, **sums}, ("/",)) | {CAPSULE_TENSOR: _state(inventory, CAPSULE_TENSOR, "tensor")}


def _replayed_steps(inventory: Inventory, datasets: Mapping[str, _Part], manifest: OrderManifest) -> _Parts:
    """Return what a capsule holds of which steps, a share or an update are replayed."""
    several, is_shared = manifest.programs.several, manifest.shares is not None
    is_update = is_shared and CAPSULE_COMBINED in inventory.groups
    held = [n for n in manifest.programs.parts if not several or n in inventory.groups.get(PROGRAMS, {})]
    replayed = {
        **{program_path(name): _PROGRAM for name in held},
        **{update_path(name): _PROGRAM for name in held if is_shared},
        CAPSULE_LOG: _Part("uint8", (None,)),
        CAPSULE_LOG_ENDS: _Part("uint64", (None,)),
        **{fingerprints_path(name, CAPSULE_FINGERPRINTS): _Part("uint64", (None, None)) for name in held},
    }
    parts = _parts({**datasets, **replayed}, ("/",) if is_update else ("/", CAPSULE_DATA))
    parts[CAPSULE_STATE] = _state(inventory, CAPSULE_STATE, "state")
    arrays = [CAPSULE_SCALARS]
    if is_update:
        parts[CAPSULE_COMBINED] = _state(inventory, CAPSULE_COMBINED, "combination of the shares")
        parts[CAPSULE_BUFFERS] = _state(inventory, CAPSULE_BUFFERS, "")
    else:
        arrays += [CAPSULE_SCHEDULE]
        arrays += [f"{CAPSULE_DATA}/{name}" for name in manifest.data if f"{CAPSULE_DATA}/{name}" in inventory.groups]
    leaves = {f"{CAPSULE_DATA}/{name}" for name, spec in manifest.data.items() if spec.rows is not None}
    for array in arrays:
        if array in leaves:
            parts[array] = {
                ROW_NUMBERS: _Part("int64", (None,)),
                ROW_VALUES: _Part("uint8", (None,)),
                ROW_SALTS: _Part("uint8", (None, SALT_BYTES)),
                ROW_PROOFS: _Part("uint8", (None, DIGEST_BYTES)),
            }
            continue
        parts[array] = {
            CHUNK_INDICES: _Part("int64", (None,)),
            CHUNK_BYTES: _Part("uint8", (None,)),
            CHUNKS_ROOT: _Part("uint8", (DIGEST_BYTES,)),
            CHUNK_PROOFS: _Part("uint8", (None, DIGEST_BYTES)),
        }
    return parts


def _check_programs(inventory: Inventory) -> None:
    """Check that several programs are not too large together; raises BundleError."""
    held = (*members(inventory, PROGRAMS).values(), *members(inventory, UPDATES).values())
    total = sum(info.shape[0] for info in held)
    if total > MAX_PROGRAMS_BYTES:
        raise BundleError(
            say("The programs of the order have {0} bytes together; {1} are allowed.", total, MAX_PROGRAMS_BYTES)
        )


def is_signed(inventory: Inventory) -> bool:
    """Whether a bundle or a capsule holds a client's signature on its order."""
    return SIGNATURE.removeprefix(f"{ORDER}/") in inventory.groups.get(ORDER, {})


def _signature(inventory: Inventory) -> dict[str, _Part]:
    return {SIGNATURE: _CONSENT} if is_signed(inventory) else {}


def _state(inventory: Inventory, group: str, what: str) -> dict[str, _Part]:
    """Return the tensors of a state as they are; there may be none where it has no name."""
    state = members(inventory, group)
    for name, info in state.items():
        if info.dtype not in STATE_DTYPES:
            raise BundleError(
                say("The state tensor {0} has the dtype {1}, which no state has.", repr(name), info.dtype)
            )
    if not state and what:
        raise BundleError(say("The {0} in the file is empty.", what))
    return {name: _Part(info.dtype, info.shape) for name, info in state.items()}


def _compare(inventory: Inventory, parts: _Parts, kind: FileKind) -> None:
    groups = inventory.groups
    unknown = sorted(groups.keys() - parts.keys())
    missing = sorted(parts.keys() - groups.keys())
    for group in sorted(groups.keys() & parts.keys()):
        found, wanted = groups[group], parts[group]
        if found.keys() != wanted.keys():
            unknown += [_path(group, name) for name in sorted(found.keys() - wanted.keys())]
            missing += [_path(group, name) for name in sorted(wanted.keys() - found.keys())]
    if unknown:
        raise BundleError(say("The {0} holds {1}, which its format and its order do not know.", kind.name, unknown[0]))
    if missing:
        raise BundleError(say("The {0} lacks {1}.", kind.name, missing[0]))
    for group, datasets in parts.items():
        found = groups[group]
        for name, part in datasets.items():
            info = found[name].info
            if part.most is not None or info.shape != part.shape or info.dtype != part.dtype:
                part.check(_path(group, name), info)


def _path(group: str, name: str) -> str:
    return f"{group}/{name}" if group != "/" else f"/{name}"


def run_extent(inventory: Inventory, manifest: OrderManifest) -> Extent:
    """Return the steps of a run, of which it has as many as losses.

    Raises:
        BundleError: There are none, more than ordered, or fewer in a run that must have all.
    """
    losses = inventory.find(LOSSES)
    if losses is None:
        raise BundleError(say("The {0} lacks {1}.", BUNDLE.name, LOSSES))
    _Part("float64", (None,)).check(LOSSES, losses.info)
    (steps,) = losses.info.shape
    if not 1 <= steps <= manifest.steps:
        raise BundleError(say("The run has {0} steps, and its order {1}.", steps, manifest.steps))
    if steps < manifest.steps and manifest.may_stop_early is None:
        raise BundleError(
            say(
                "The run has {0} of {1} ordered steps, and its order does not let it stop early.", steps, manifest.steps
            )
        )
    return manifest.extent_of(steps)


def _shares(manifest: OrderManifest, steps: int) -> dict[str, _Part]:
    """Return what a run holds of the shares of its steps."""
    shares = manifest.shares
    if shares is None:
        return {}
    turns = {name: manifest.programs.count(name, steps) for name in manifest.programs.parts}
    sums = {fingerprints_path(name, EXPONENTS): _Part("int32", (count, None)) for name, count in turns.items()}
    sums |= {
        fingerprints_path(name, COMBINED): _Part("uint8", (count, None, DIGEST_BYTES)) for name, count in turns.items()
    }
    return {
        SHARE_ROOTS: _Part("uint8", (steps, shares.count, 2, DIGEST_BYTES)),
        SHARE_NUMBERS: _Part("float64", (steps, shares.count, 2)),
        SHARE_LOG_ENDS: _Part("uint64", (steps, shares.count)),
        **{
            fingerprints_path(name, SHARE_FINGERPRINTS): _Part("uint64", (count, shares.count, None))
            for name, count in turns.items()
        },
        **(sums if shares.sums else {}),
        **({SHARE_SIGNATURES: _Part("uint8", (steps, shares.count, SIGNATURE_BYTES))} if shares.signers else {}),
        **(_additions(turns, steps, shares.count) if shares.sums and shares.signers else {}),
    }


def _additions(turns: Mapping[str, int], steps: int, shares: int) -> dict[str, _Part]:
    """Return what a run holds of what parties signed of sums; ``turns`` are the steps of each program."""
    return {
        SUMS_SEEN: _Part("uint8", (steps, DIGEST_BYTES)),
        SUM_SIGNATURES: _Part("uint8", (steps, shares, SIGNATURE_BYTES)),
        **{
            fingerprints_path(name, ADDED): _Part("uint8", (count, shares, None, HASH_BYTES))
            for name, count in turns.items()
        },
    }


def _run(inventory: Inventory, manifest: OrderManifest, initial: dict[str, _Part] | None) -> _Parts:
    """Return what a run holds; its states have the tensors of the initial one, or, without it, of the first stored."""
    extent = run_extent(inventory, manifest)
    steps = extent.steps
    stored = sum(path.startswith(f"{CHECKPOINTS}/") for path in inventory.groups)
    # Compared before the list is made: the order may call for millions, and the file is what bounds the work.
    if stored != extent.checkpoint_count:
        raise BundleError(
            say("The bundle stores {0} checkpoints; its order asks for {1}.", stored, extent.checkpoint_count)
        )
    parts = _parts(
        {
            ACCEPTANCE: _CONSENT,
            CLAIM: _Part("uint8", (None,), MAX_CLAIM_BYTES),
            STATE_ROOTS: _Part("uint8", (extent.committed_steps, DIGEST_BYTES)),
            LOSSES: _Part("float64", (steps,)),
            LOG: _Part("uint8", (None,)),
            LOG_ENDS: _Part("uint64", (steps,)),
            LOG_ENTRIES: _Part("uint32", (steps,)),
            **({LEFT_OUT: _Part("uint8", (None,), MAX_LEFT_OUT_BYTES)} if manifest.last_of_weights else {}),
            **{
                fingerprints_path(name): _Part("uint64", (manifest.programs.count(name, steps), None))
                for name in manifest.programs.parts
            },
            **_shares(manifest, steps),
        },
        (CHECKPOINTS,),
    )
    if initial is None:
        initial = _state(inventory, checkpoint_path(extent.checkpoint_steps[0]), "first stored state")
    parts |= {checkpoint_path(step): initial for step in extent.checkpoint_steps}
    if manifest.last_of_weights:
        without = slots_to_leave_out(initial)
        parts[checkpoint_path(steps)] = {name: part for name, part in initial.items() if name not in without}
    return parts
