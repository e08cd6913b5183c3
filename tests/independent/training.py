"""Trains an order in numpy and writes the run, written from docs/bundle-format.md and docs/numerics.md alone."""

from __future__ import annotations

import base64
import math
from collections import defaultdict
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import h5py
import numpy as np
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

from independent.bundle import (
    ZERO,
    Bundle,
    Share,
    SiteLog,
    addition_statement,
    canonical,
    key_id,
    leaf,
    need,
    root,
    share_statement,
    shares_field,
    state_root,
    step_record,
)
from independent.exact import replayer_of
from independent.replay import Steps
from independent.shares import SharedStep, SharedSteps

Array = Any
MOMENT = "2026-01-31T12:00:00Z"


# Rounding logs [8].


def leb128(value: int) -> bytes:
    groups = []
    while value >= 0x80:
        groups.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes([*groups, value])


def encoded(log: Sequence[SiteLog]) -> bytes:
    """The bytes of a log; those of no sites under an exact profile are none, which the caller knows."""
    parts = [b"\x01"]
    for site in log:
        exponent = site.exponent
        code = 0 if exponent is ZERO else 1 + (2 * exponent if exponent >= 0 else -2 * exponent - 1)
        parts += [leb128(code), leb128(len(site.indices))]
        if site.indices:
            spread = math.log(2) * (site.indices[-1] + 1) / len(site.indices)
            rice = min(40, max(0, math.ceil(math.log2(max(1.0, spread)))))
            bits: list[int] = []
            before = -1
            for index, up in zip(site.indices, site.ups, strict=True):
                gap, before = index - before - 1, index
                bits += [1] * (gap >> rice) + [0] + [gap >> place & 1 for place in range(rice)] + [int(up)]
            parts += [bytes([rice]), np.packbits(np.array(bits, np.uint8), bitorder="little").tobytes()]
    return b"".join(parts)


def written(part: Steps, log: Sequence[SiteLog]) -> bytes:
    """The bytes of the log of a part of a step: none under an exact profile."""
    return b"" if "exact_bits" in part.bundle.manifest["precision"] else encoded(log)


# Signatures [7, 15].


def envelope(statement: Any, key: Ed25519PrivateKey) -> bytes:
    kind, payload = "application/vnd.in-toto+json", canonical(statement)
    signature = key.sign(f"DSSEv1 {len(kind)} {kind} {len(payload)} ".encode() + payload)
    sealed = {"keyid": key_id(key.public_key()), "sig": base64.b64encode(signature).decode()}
    return canonical({"payloadType": kind, "payload": base64.b64encode(payload).decode(), "signatures": [sealed]})


def pem(key: Ed25519PrivateKey) -> str:
    return key.public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo).decode()


def statement(kind: str, subjects: list[Any], predicate: Any) -> Any:
    return {
        "_type": "https://in-toto.io/Statement/v1",
        "subject": subjects,
        "predicateType": f"urn:counterfoil:{kind}:v1",
        "predicate": predicate,
    }


# The run [2, 6, 18].


class Trainer:
    """Carries an order out, step by step; every value is rounded by itself, and close decisions are logged.

    Args:
        order: The order; one that ends after its last step.
        shared: What executes steps that shares make.
        parties: The keys of the parties that answer for shares.
    """

    def __init__(
        self, order: Bundle, shared: type[SharedSteps] = SharedSteps, parties: Sequence[Ed25519PrivateKey] = ()
    ) -> None:
        self.parties = {key.public_key().public_bytes_raw().hex(): key for key in parties}
        need("may_stop_early" not in order.manifest, "a run that may end early")
        self.order, self.state = order, order.group("order/initial")
        kind = replayer_of if order.shares is None else shared
        self.programs: dict[str, Any] = {name: kind(order, name) for name in order.programs}
        self.columns: dict[str, list[Any]] = defaultdict(list)
        self.checkpoints: dict[int, dict[str, Array]] = {}
        self.roots = [state_root(self.state)]
        self.log, self.ends, self.entries = b"", [0], [0]
        self.records = [
            canonical({"step": 0, "state_root": self.roots[0].hex(), "log": None, "fingerprints": None, "loss": None})
        ]

    def train(self) -> None:
        """Do every step."""
        manifest = self.order.manifest
        for step in range(1, self.order.steps + 1):
            program = self.programs[self.order.turn(step)]
            done = program.step(step, self.state, None)
            self.state = done.state
            if isinstance(program, SharedSteps):
                logs = self._keep_shares(step, program, done)
                self.roots.append(state_root(self.state))
                record, part = program.record(step, done, logs), done.update
            else:
                logs, part = [written(program, done.log)], done
                committed = self.order.committed(step)
                if committed:
                    self.roots.append(state_root(self.state))
                row = done.row.astype("<u8").tobytes()
                record = step_record(step, self.roots[-1] if committed else None, logs[0], row, done.loss)
                self._count(done.log)
            self.records.append(record)
            self.log += b"".join(logs)
            self.ends.append(len(self.log))
            self.columns["run/losses"].append(part.loss)
            self._in_turn("run/fingerprints", step, part.row)
            if step % manifest["checkpoint_every"] == 0 or step == self.order.steps:
                self.checkpoints[step] = self.state

    def _count(self, *logs: Sequence[SiteLog]) -> None:
        self.entries.append(sum(len(site.indices) for log in logs for site in log))

    def _in_turn(self, path: str, step: int, row: Array) -> None:
        name = self.order.turn(step)
        self.columns[f"{path}/{name}" if name else path].append(row)

    def _keep_shares(self, step: int, program: SharedSteps, done: SharedStep) -> list[bytes]:
        """Keep what a run holds of the shares of a step; returns the logs of its parts."""
        logs = [written(program.gradient, log) for log in done.logs]
        shares = done.share_data(program.changed, logs[:-1])
        roots = b"".join(share.gradients + share.buffers for share in shares)
        self.columns["run/shares/roots"].append(np.frombuffer(roots, np.uint8).reshape(-1, 2, 32))
        self.columns["run/shares/numbers"].append([(share.loss, share.count) for share in shares])
        self.columns["run/shares/log_ends"].append(np.cumsum([len(log) for log in logs[:-1]]).astype(np.uint64))
        if "signers" in self.order.shares:
            signatures = [self._signature(step, number, share) for number, share in enumerate(shares)]
            self.columns["run/shares/signatures"].append(np.frombuffer(b"".join(signatures), np.uint8).reshape(-1, 64))
        self._in_turn("run/shares/fingerprints", step, [share.fingerprints for share in shares])
        if done.exponents is not None and "signers" in self.order.shares:
            self._sign_sum(step, program, done, shares_field(shares, done.exponents, done.digests))
        if done.exponents is not None:
            digests = np.frombuffer(b"".join(done.digests), np.uint8).reshape(-1, 32)
            self._in_turn("run/shares/exponents", step, done.exponents)
            self._in_turn("run/shares/combined", step, digests)
        self._count(*done.logs)
        return logs

    def _sign_sum(self, step: int, program: SharedSteps, done: SharedStep, field: Mapping[str, str]) -> None:
        seen, hashes = program.additions(step, done, field)
        signatures = []
        for number, key in enumerate(self.order.shares["signers"]):
            signed = addition_statement(self.order.digest, step, self.roots[-1], number, field, seen, hashes[number])
            signatures.append(bytes(64) if key is None else self.parties[key].sign(signed))
            hashes[number] = bytes(len(hashes[number])) if key is None else hashes[number]
        self.columns["run/shares/sums"].append(np.frombuffer(seen, np.uint8))
        self.columns["run/shares/sum_signatures"].append(np.frombuffer(b"".join(signatures), np.uint8).reshape(-1, 64))
        self._in_turn("run/shares/added", step, np.frombuffer(b"".join(hashes), np.uint8).reshape(len(hashes), -1, 16))

    def _signature(self, step: int, number: int, share: Share) -> bytes:
        key = self.order.shares["signers"][number]
        signed = share_statement(self.order.digest, step, self.roots[-1], share.record(number))
        return bytes(64) if key is None else self.parties[key].sign(signed)

    def write(self, order: Path, path: Path, key: Ed25519PrivateKey) -> bytes:
        """Write the order, byte for byte, and the run; returns the run root."""
        run_root = root([leaf(record) for record in self.records])
        need(len(self.records) == self.order.steps + 1, "a run of other steps than ordered")
        with h5py.File(order, "r") as source, h5py.File(path, "w", libver=("v110", "v110")) as file:
            file.attrs["format"] = np.array(b"counterfoil-3", "S32")

            def copy(name: str, item: Any) -> None:
                if isinstance(item, h5py.Dataset):
                    need(item.id.get_type().get_class() != h5py.h5t.BITFIELD, "truth values, which h5py does not write")
                    file.create_dataset(name, data=item[()])

            source["order"].visititems(lambda name, item: copy(f"order/{name}", item))
            for name, array in self._run(key, run_root).items():
                file.create_dataset(name, data=array)
        return run_root

    def _run(self, key: Ed25519PrivateKey, run_root: bytes) -> dict[str, Array]:
        """What stands under ``/run``."""
        digest = self.order.digest.hex()
        order = {"name": "order", "digest": {"sha256": digest}}
        accepted = {
            "order": digest, "client_key": self.order.client_key, "accepted_at": MOMENT, "public_key": pem(key)
        }  # fmt: skip
        claim = {
            "order": digest, "run_root": run_root.hex(), "steps": self.order.steps, "environment": {"device": "numpy"},
            "signed_at": MOMENT, "public_key": pem(key),
        }  # fmt: skip
        subjects = [order, {"name": "run", "digest": {"rfc9162Sha256": run_root.hex()}}]
        signed = {
            "run/acceptance": envelope(statement("acceptance", [order], accepted), key),
            "run/claim": envelope(statement("run", subjects, claim), key),
        }
        dtypes = {"run/losses": np.float64, "run/shares/numbers": np.float64}
        states = {f"run/checkpoints/{step:010d}": state for step, state in self.checkpoints.items()}
        return {
            **{name: np.frombuffer(data, np.uint8) for name, data in signed.items()},
            "run/state_roots": np.frombuffer(b"".join(self.roots), np.uint8).reshape(-1, 32),
            "run/log": np.frombuffer(self.log, np.uint8),
            "run/log_ends": np.array(self.ends[1:], np.uint64),
            "run/log_entries": np.array(self.entries[1:], np.uint32),
            **{name: np.array(rows, dtypes.get(name)) for name, rows in self.columns.items()},
            **{f"{group}/{name}": array for group, state in states.items() for name, array in state.items()},
        }


def train(
    order: Path,
    path: Path,
    key: Ed25519PrivateKey,
    shared: type[SharedSteps] = SharedSteps,
    parties: Sequence[Ed25519PrivateKey] = (),
) -> bytes:
    """Carry an order out, and write the run; returns the run root."""
    trainer = Trainer(Bundle(order), shared, parties)
    trainer.train()
    return trainer.write(order, path, key)
