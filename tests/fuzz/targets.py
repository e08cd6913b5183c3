"""What is fuzzed: everything that reads what a stranger may have written, with files that it reads."""

from __future__ import annotations

import hashlib
import io
import operator
import os
import random
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields, is_dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import msgspec
import numpy as np

from counterfoil.audit import progressfile
from counterfoil.audit.parts import partfile as parts
from counterfoil.audit.values.delivery import DeliveryOutcome, DeliveryReport
from counterfoil.base.joberrors import PartError, RecordingError, WeightsError
from counterfoil.base.seal import SEAL_BYTES, seal
from counterfoil.bundle.capsulewriter import write_capsule
from counterfoil.bundle.writer import write_data_file
from counterfoil.delivery.export import export_weights
from counterfoil.delivery.tensorfile import open_tensors
from counterfoil.delivery.verification import verify_weights
from counterfoil.signing.comparison import write_comparison
from counterfoil.signing.kinds import Comparison
from counterfoil.signing.privatekeys import generate_key, load_private_key
from counterfoil.talk import messages
from counterfoil.talk.messages import FormError
from counterfoil.training.stepfile import StoredStep, encode_step, read_steps
from counterfoil_core.arithmetic.admission import read_program
from counterfoil_core.arithmetic.grid.log import decode, encode
from counterfoil_core.base.digest import DIGEST_BYTES, Digest
from counterfoil_core.base.errors import (
    CommitmentError,
    CounterfoilError,
    KeyFileError,
    LimitError,
    NonFiniteError,
    ProgressError,
    RefusedError,
)
from counterfoil_core.base.generators import finish
from counterfoil_core.base.precision import Precision
from counterfoil_core.bundle.capsule import CapsuleReader
from counterfoil_core.bundle.datafile import DataFile
from counterfoil_core.bundle.reader import BundleReader
from counterfoil_core.bundle.schema import ArraySpec, OrderManifest
from counterfoil_core.bundle.steady import SteadyFile
from counterfoil_core.commit.state import tensor_digest
from counterfoil_core.hearing import result
from counterfoil_core.hearing.check import SignedStep, unfit
from counterfoil_core.hearing.evidence import load_job, prove_part, prove_run
from counterfoil_core.hearing.inspection import Inspection, make_checks
from counterfoil_core.hearing.knowledge import Divergence
from counterfoil_core.kernels.result import Counts
from counterfoil_core.parties.signatures import check_claim
from counterfoil_core.parties.treeheads import read_tree_heads
from counterfoil_core.program.graph import Program
from counterfoil_core.replay.replayer import read_log
from counterfoil_core.signing.claims import RunClaim
from counterfoil_core.signing.keys import SigningKey, load_public_key
from counterfoil_core.signing.publickeys import public_path
from counterfoil_core.signing.statements import open_said
from counterfoil_core.statement.verdict import sign_verdict, verify_signed
from counterfoil_core.values.dispute import UPDATE
from counterfoil_core.values.outcome import CheckState
from counterfoil_core.values.sampling import Sample, Segment, SegmentRequest, Selection
from counterfoil_core.values.workers import Place
from fuzz.files import Files
from fuzz.mutations import spoil_bytes, spoil_envelope, spoil_json, spoil_lines, spoil_pem, spoil_value
from fuzz.spoken import spoken
from support.bundles import make_contents, write_bundle
from support.capsules import crafted, crafted_part
from support.delivered import basis_for
from support.hdf5_files import blocks_of, read_by_us
from support.hdf5_fuzz import spoil_structure
from support.heads import record_with_heads
from support.jobs import digits_order, gpt2_order, record_job
from support.random_programs import compute, random_program
from support.reports import dispute, disputed_report, step_table, verified_report
from support.shared import shared_order
from support.turns import mirror_order

Spoil = Callable[[bytes, random.Random], bytes]
PASSPHRASE = "fuzz"


@dataclass(frozen=True)
class Target:
    """A reader of what strangers write.

    Attributes:
        name: What it reads.
        seeds: Contents that it reads.
        spoil: Changes one of them.
        read: Reads bytes: what they say, in a form that can be compared.
        bound: Whether a digest or a signature binds what is said: a change that is read as anything else than what
            the seed says went unnoticed.
        refusals: What it may raise.
        says: What each seed says.
        agrees: Whether what is read is no more than what the seed says.
    """

    name: str
    seeds: tuple[bytes, ...]
    spoil: Spoil
    read: Callable[[bytes], Any]
    bound: bool
    refusals: tuple[type[CounterfoilError], ...] = (RefusedError, LimitError)
    says: Mapping[bytes, Any] = field(default_factory=dict)
    agrees: Callable[[Any, Any], bool] = operator.eq

    def outcome(self, seed: bytes, spoiled: bytes) -> str:
        """``refused``, ``same``, or ``other`` where nothing binds what is said.

        Raises:
            AssertionError: Something else than what was signed or committed to was accepted.
        """
        try:
            found = self.read(spoiled)
        except self.refusals:
            return "refused"
        if self.agrees(found, self.says[seed]):
            return "same"
        assert not self.bound, f"{self.name} accepts what is not what was signed"
        return "other"


def plain(value: Any) -> Any:
    """A value of the engine as tuples, texts and bytes, which can be compared."""
    if isinstance(value, np.ndarray):
        return (value.dtype.name, value.shape, value.tobytes())
    if is_dataclass(value) and not isinstance(value, type):
        return (type(value).__name__, *(plain(getattr(value, item.name)) for item in fields(value)))
    if isinstance(value, Mapping):
        return tuple(sorted((name, plain(item)) for name, item in value.items()))
    if isinstance(value, (list, tuple)):
        return tuple(plain(item) for item in value)
    # Two losses that are not a number are the same.
    return repr(value) if isinstance(value, float) else value


class Corpus:
    """Files that every reader is fed with, made in a folder, and the readers."""

    def __init__(self, folder: Path) -> None:
        """Make the files: short trainings of a CNN, a GPT and of programs in turns, two keys, capsules, verdicts."""
        self._folder = folder
        generate_key(folder / "trainer.pem", None)
        self.key: SigningKey = load_private_key(folder / "trainer.pem", None)
        generate_key(folder / "locked.pem", PASSPHRASE)
        generate_key(folder / "stranger.pem", None)
        self._stranger = load_private_key(folder / "stranger.pem", None)
        self._runs: list[Path] = []
        heads = []
        drafts = {
            "digits": digits_order(steps=4),
            "gpt2": gpt2_order(steps=4),
            "turns": mirror_order(commit_every=2),
        }
        for name, draft in drafts.items():
            place = folder / name
            place.mkdir()
            draft.write(place / "order.cfoil", trial=False)
            run, published = record_with_heads(place / "order.cfoil", place, self.key)
            self._runs.append(run)
            heads.append(published.read_bytes())
        self._heads = tuple(heads)

    def targets(self) -> tuple[Target, ...]:
        """Every target, with what its seeds say."""
        kinds = (
            self._hdf5(), self._weights(), self._records(), self._signed(), self._keys(), self._unfinished(),
            self._files(),
        )  # fmt: skip
        return tuple(_known(target) for targets in kinds for target in targets)

    # Files of arrays.

    def _hdf5(self) -> tuple[Target, ...]:
        made = []
        for name, count in (("few", 2), ("leaf", 10), ("tree", 60)):
            path = self._folder / f"{name}.cfdata"
            arrays = {f"layer.{n}.weight": np.arange(3 * n, dtype=np.int32).reshape(3, n) for n in range(1, count + 1)}
            write_data_file(path, arrays)
            made.append(path.read_bytes())
        # All of them are in the largest, and the others lack some.
        outside = {
            name: ArraySpec(array.dtype.name, array.shape, tensor_digest(name, array), file="tree.cfdata")
            for name, array in arrays.items()
        }
        self._manifest = replace(make_contents().manifest, data=outside)
        plain_run = write_bundle(self._folder / "plain.cfoil", make_contents(steps=2)).read_bytes()
        capsules = []
        for run, step in ((self._runs[0], 3), (self._runs[-1], 4)):
            capsule = self._folder / f"{run.parent.name}.capsule.cfoil"
            write_capsule(crafted(run, step), capsule)
            capsules.append(capsule.read_bytes())
        (self._folder / "shares").mkdir()
        shared = record_job(self._folder / "shares", shared_order(2), self.key)
        for about in (1, UPDATE, "gradient:4.weight"):
            capsule = self._folder / "part.capsule.cfoil"
            write_capsule(crafted_part(shared.run, 2, about), capsule)
            capsules.append(capsule.read_bytes())
        runs = tuple(path.read_bytes() for path in self._runs)
        return (
            Target("reader", (*made, plain_run), _spoil_file(0.0), _plain_reader, bound=False),
            Target("bundle", runs, _spoil_file(0.5), self._read_bundle, bound=True),
            Target("data file", (made[-1],), _spoil_file(0.3), self._read_data_file, bound=True),
            Target("capsule", tuple(capsules), _spoil_file(0.5), self._read_capsule, bound=True),
        )

    def _written(self, data: bytes) -> Path:
        # Several processes may work on one corpus.
        path = self._folder / f"spoiled.{os.getpid()}"
        path.write_bytes(data)
        return path

    def _read_bundle(self, data: bytes) -> Any:
        """What an audit would judge: all of it checked as an audit does, by the trainer's key and the run root."""
        with BundleReader.open(self._written(data)) as reader:
            inspection = Inspection(reader)
            make_checks(inspection, trainer_key=self.key.public)
            if inspection.failure is not None:
                raise inspection.failure
            if inspection.order is None or inspection.claim is None:
                raise CommitmentError("There is no run in it.")
            states = [reader.checkpoint(step) for step in reader.checkpoint_steps()]
            records = inspection.records
            logs = [reader.log(record.step) for record in records[1:]]
            for record, log in zip(records[1:], logs, strict=True):
                if Digest.of(log) != record.log:
                    raise CommitmentError("A log is not the one that the run commits to.")
                read_log(inspection.order, record, log)
            assert all(check.state is not CheckState.FAILED for check in inspection.checks.values())
            return (
                plain(reader.check_order_contents()),
                plain(inspection.claim),
                plain(records),
                plain(states),
                plain([reader.fingerprints(record.step) for record in records[1:]]),
                tuple(logs),
            )

    def _read_data_file(self, data: bytes) -> Any:
        with DataFile.open(self._written(data)) as file:
            rows = np.arange(3)
            return plain({name: array[rows] for name, array in finish(file.check(self._manifest)).items()})

    def _read_capsule(self, data: bytes) -> Any:
        with CapsuleReader.open(self._written(data)) as reader:
            contents = reader.contents()
        part = prove_part(contents)
        load_job(contents, part)
        claim = check_claim(contents.claim, contents.manifest, self.key.public, None)
        prove_run(contents, claim)
        judged = (contents.manifest, contents.programs.all, contents.leaves, contents.state, contents.logs)
        parts = (
            contents.fingerprints,
            claim,
            contents.part,
            contents.updates and contents.updates.all,
            contents.shared,
        )
        return (*map(plain, judged), *map(plain, parts))

    # Delivered weights.

    def _weights(self) -> tuple[Target, ...]:
        run = self._runs[1]
        *_, file = export_weights(run, self._folder / "weights")
        assert isinstance(file, Path)
        basis = basis_for(run)

        def read(data: bytes) -> Any:
            path = self._written(data)
            *_, report = verify_weights(path, run, basis)
            assert isinstance(report, DeliveryReport)
            if report.outcome is not DeliveryOutcome.DELIVERED:
                raise WeightsError("These are other weights.")
            with SteadyFile.open(path) as opened:
                finish(opened.settle())
                found = open_tensors(opened)
                return plain({name: found.read(tensor) for name, tensor in found.tensors.items()})

        return (Target("weights", (file.read_bytes(),), _spoil_weights, read, bound=True),)

    # Records.

    def _records(self) -> tuple[Target, ...]:
        manifests, programs, logs = [], [], []
        sizes: dict[bytes, tuple[int, ...]] = {}
        for path in self._runs:
            with BundleReader.open(path) as reader:
                manifests.append(reader.manifest.to_bytes())
                found = reader.check_order_contents().programs
                programs += found.all
                program = Program.from_bytes(found.of(1))
                logs.append(reader.log(1))
                sizes[logs[-1]] = tuple(site.elements for site in program.sites)
        return (
            Target("manifest", tuple(manifests), spoil_json, _read_manifest, bound=False),
            Target("program", tuple(programs), spoil_json, _read_program, bound=False),
            Target(
                "program, computed",
                (programs[0],),
                lambda data, chance: random_program(chance).data,
                _compute_program,
                bound=False,
                refusals=(RefusedError, LimitError, NonFiniteError),
            ),
            *(
                Target(f"log codec, {name}", (log,), spoil_bytes, partial(_read_log, sizes[log]), bound=False)
                for name, log in zip(("CNN", "GPT", "turns"), logs, strict=True)
            ),
        )

    # What is kept of unfinished work.

    def _unfinished(self) -> tuple[Target, ...]:
        with BundleReader.open(self._runs[0]) as reader:
            inspection = Inspection(reader)
            make_checks(inspection, trainer_key=self.key.public)
            steps, seal = [], Digest.of(b"")
            for record in inspection.records[1:]:
                step = StoredStep(record, reader.log(record.step), 1, reader.fingerprints(record.step))
                data, seal = encode_step(step, seal)
                steps.append(data)
        file = b"".join(steps)
        return (
            Target(
                "step file", (file,), spoil_bytes, partial(_read_steps, _all_steps(file)[0]), True, (RecordingError,)
            ),
            Target(
                "progress", (progressfile.encode(_kept_audit()),), _spoil_progress, _use_progress, False,
                (ProgressError,),
            ),
            Target("part of an audit", (_part(),), _spoil_part, partial(_use_part, self._folder / "part"), False,
                   (PartError,)),
            *(Target(name, seeds, spoil_bytes, read, False, (FormError, ValueError)) for name, seeds, read in spoken()),
        )  # fmt: skip

    # What is signed.

    def _signed(self) -> tuple[Target, ...]:
        key, other = self.key, self._stranger
        claims = []
        for path in self._runs:
            with BundleReader.open(path) as reader:
                claims.append(reader.claim())
        verdicts = tuple(sign_verdict(report, key) for report in (verified_report(), disputed_report()))

        digest = Digest.of(b"order")
        made = Comparison(digest, digest, ("--lr", "0.1"), {"rows.csv": digest}, "2.11.0", ((1, 4), (6, 6)), 9)
        comparison = write_comparison(self._folder / "job.cfoil", made, key).read_bytes()

        def compared(data: bytes) -> Any:
            return plain(open_said(Comparison, data))

        def claim(data: bytes) -> Any:
            return plain(open_said(RunClaim, data, key.public))

        def verdict(data: bytes) -> Any:
            return plain(verify_signed(data, key.public))

        def heads(data: bytes) -> Any:
            return plain(read_tree_heads(self._written(data), key.public))

        found = []
        for name, seeds, read in (
            ("claim", tuple(claims), claim),
            ("verdict", verdicts, verdict),
            ("comparison", (comparison,), compared),
        ):
            for signer, who in ((None, "nobody"), (other, "a stranger"), (key, "its own key")):
                spoil = spoil_envelope(signer)
                found.append(Target(f"{name}, signed by {who}", seeds, spoil, read, bound=signer is not key))
        for signer, who in ((None, "nobody"), (other, "a stranger"), (key, "its own key")):
            spoil = spoil_lines(spoil_envelope(signer))
            # Each line is signed for itself; which lines there are is not.
            found.append(
                Target(f"heads, signed by {who}", self._heads, spoil, heads, bound=signer is not key, agrees=_all_among)
            )
        return tuple(found)

    # Files of every kind, before the commands that read them.

    def _files(self) -> tuple[Target, ...]:
        files = Files(self._folder / "files", self._runs[0], self._heads[0], _spoil_file(0.3))
        refusals = (CounterfoilError,)
        return tuple(Target(f"file: {name}", *rest, bound=False, refusals=refusals) for name, *rest in files.readers())

    # Keys.

    def _keys(self) -> tuple[Target, ...]:
        def public(data: bytes) -> Any:
            return load_public_key(self._written(data)).pem

        def private(passphrase: str | None, data: bytes) -> Any:
            return load_private_key(self._written(data), passphrase).public.pem

        files = {name: (self._folder / f"{name}.pem").read_bytes() for name in ("trainer", "locked")}
        pem = public_path(self._folder / "trainer.pem").read_bytes()
        refusals = (KeyFileError,)
        return (
            Target("public key", (pem,), spoil_pem, public, bound=False, refusals=refusals),
            Target("private key", (files["trainer"],), spoil_pem, partial(private, None), False, refusals),
            Target("locked key", (files["locked"],), spoil_pem, partial(private, PASSPHRASE), False, refusals),
        )


def _all_steps(data: bytes) -> tuple[tuple[Any, ...], int]:
    read = list(read_steps(io.BytesIO(data), len(data), Digest.of(b"")))
    return tuple(plain(step) for step, _, _ in read), read[-1][1] if read else 0


def _read_steps(known: tuple[Any, ...], data: bytes) -> Any:
    """The steps; what is behind the last whole one is cut off and computed again, which counts as refused."""
    found, end = _all_steps(data)
    assert found == known[: len(found)], "a step was read that was not written"
    if end < len(data) or not found:
        raise RecordingError("Cut.")
    return found


def _kept_audit() -> progressfile.KeptAudit:
    basis = progressfile.Basis(
        file=Digest.of(b"file"), order=Digest.of(b"order"), run_root=Digest.of(b"run"), counterfoil="1", torch="2",
        device="cpu", segments=SegmentRequest(),
    )  # fmt: skip
    return progressfile.KeptAudit(
        basis=basis, sample=Sample(12, ((1, 12),), Selection.ALL), segments=3, steps=step_table(3).pack(3),
        divergences=(Divergence.of(3, dispute().tensors),), dispute=dispute(), omissions=(2,), steering_steps=(3,),
        steering_sums=((1, 2, 3, 4, 5, 6),), seconds=0.5, capsule=None,
    )  # fmt: skip


def _use_progress(data: bytes) -> Any:
    """Read progress, and compute with its numbers as an audit that goes on from it does."""
    audit = progressfile.decode(data)
    short = audit.kept_at(Path("progress"))
    if not audit.fits(12, 12):
        return audit
    numbers = list(audit.sample.numbers())
    sums = np.array(audit.steering_sums, np.int64).sum(0) if audit.steering_sums else None
    return audit, short, numbers, plain(sums), audit.judged.replayed_at, audit.sample.passing


def _steps_of_part() -> tuple[result.StepResult, ...]:
    return tuple(result.StepResult.of(step, Digest.of(b"leaf"), 0.5, Counts(7, 3, 0, 0, 2), 0.1) for step in (1, 2))


def _part() -> bytes:
    place = Place("here", (("device", "cpu"),))
    replayed = result.SegmentResult(1, _steps_of_part(), ((14, 6, 4, 0, 0, 0),))
    made = parts.Part(result.Identity(Digest.of(b"file"), Digest.of(b"order"), Digest.of(b"run")), place, (replayed,))
    return _sealed_part(messages.encode(made))


def _sealed_part(body: bytes) -> bytes:
    return parts.MARK + hashlib.sha256(body).digest() + body


def _use_part(path: Path, data: bytes) -> Any:
    """Read a part of an audit, and judge whether what it says can be taken."""
    path.write_bytes(data)
    part = parts.read_part(path)
    signed = SignedStep(Digest.of(b"leaf"), 0.5, 0, (7,))
    why = [unfit(one, Segment(1, 1, 2), 1, lambda _step: signed) for one in part.segments]
    assert all(isinstance(reason, str) for reason in why)
    return plain([parts.place_fault(part.place), *why])


def _spoil_part(data: bytes, chance: random.Random) -> bytes:
    """Mostly what it says, with its digest made right."""
    body = data[len(parts.MARK) + DIGEST_BYTES :]
    if chance.random() < 0.2:
        return spoil_bytes(data, chance)
    if chance.random() < 0.3:
        return _sealed_part(spoil_bytes(body, chance))
    try:
        return _sealed_part(msgspec.msgpack.encode(spoil_value(msgspec.msgpack.decode(body), chance)))
    except (OverflowError, UnicodeEncodeError):  # what no such file can hold
        return _sealed_part(b"")


def _spoil_progress(data: bytes, chance: random.Random) -> bytes:
    """Mostly what it says, with its seal made right."""
    start = len(progressfile.MARK) + SEAL_BYTES
    if chance.random() < 0.2:
        return spoil_bytes(data, chance)
    if chance.random() < 0.5:
        body = spoil_bytes(data[start:], chance)
    else:
        value = spoil_value(msgspec.msgpack.decode(data[start:]), chance)
        try:
            body = msgspec.msgpack.encode(value)
        except (OverflowError, UnicodeEncodeError):  # what no such file can hold
            body = b""
    return progressfile.MARK + seal(progressfile.MARK + body) + body


def _spoil_weights(data: bytes, chance: random.Random) -> bytes:
    """Mostly what the header says, with its length made right."""
    if chance.random() < 0.3:
        return spoil_bytes(data, chance)
    start = 8 + int.from_bytes(data[:8], "little")
    header = spoil_json(data[8:start], chance)
    return len(header).to_bytes(8, "little") + header + data[start:]


def _all_among(found: tuple[Any, ...], known: tuple[Any, ...]) -> bool:
    return set(found) <= set(known)


def _known(target: Target) -> Target:
    says = {seed: target.read(seed) for seed in target.seeds}
    return replace(target, says=says)


def _spoil_file(contents: float) -> Spoil:
    """Changes to the structure of an HDF5 file, with checksums made right, or with this chance to any of its bytes."""
    blocks: dict[bytes, Any] = {}

    def spoil(data: bytes, chance: random.Random) -> bytes:
        if chance.random() < contents:
            return spoil_bytes(data, chance)
        if data not in blocks:
            blocks[data] = blocks_of(data)
        return spoil_structure(data, blocks[data], chance)[0]

    return spoil


def _plain_reader(data: bytes) -> Any:
    return read_by_us(data)


def _read_manifest(data: bytes) -> bytes:
    manifest = OrderManifest.from_bytes(data)
    assert manifest.to_bytes() == data, "something of the manifest was not read"
    return data


def _read_program(data: bytes) -> bytes:
    program = read_program(data, Precision())
    assert program.to_bytes() == data, "something of the program was not read"
    return data


def _compute_program(data: bytes) -> bytes:
    compute(data)
    return data


def _read_log(sizes: tuple[int, ...], data: bytes) -> Any:
    sites = decode(data, sizes)
    again = encode(sites)
    assert plain(decode(again, sizes)) == plain(sites), "the log says something else when it is written again"
    return plain(sites)
