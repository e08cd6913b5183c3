"""Reads a bundle, written from docs/bundle-format.md alone: numbers in brackets are sections of that page."""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import h5py
import numpy as np
from cryptography.hazmat.primitives.asymmetric.ec import ECDSA, SECP256R1, EllipticCurvePublicKey
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat, load_pem_public_key

FORMAT = 3
MANIFEST_FORMAT = 2
CHUNK = 16_384
ZERO = None
"""Stands for the exponent of a scale that is zero."""


class RefusedError(Exception):
    """The bundle is not what the page describes."""


def need(condition: object, what: str) -> None:
    if not condition:
        raise RefusedError(what)


def sha256(data: bytes) -> bytes:
    return hashlib.sha256(data).digest()


# Canonical JSON [3].


def canonical(value: Any) -> bytes:
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False).encode()


def integer(text: str) -> int:
    need(abs(int(text)) < 2**53, "an integer that not every reader keeps")
    return int(text)


def no_number(text: str) -> Any:
    raise RefusedError(f"{text} is no integer")


def parse(data: bytes) -> Any:
    value = json.loads(data, parse_int=integer, parse_float=no_number, parse_constant=no_number)
    need(canonical(value) == data, "a record is not canonical JSON")
    return value


# Merkle trees and digests [5, 6].


def leaf(data: bytes) -> bytes:
    return sha256(b"\x00" + data)


def root(leaves: Sequence[bytes]) -> bytes:
    if len(leaves) < 2:
        return leaves[0] if leaves else sha256(b"")
    k = 1
    while 2 * k < len(leaves):
        k *= 2
    return sha256(b"\x01" + root(leaves[:k]) + root(leaves[k:]))


def inclusion_proof(leaves: Sequence[bytes], index: int) -> list[bytes]:
    if len(leaves) < 2:
        return []
    k = 1
    while 2 * k < len(leaves):
        k *= 2
    if index < k:
        return [*inclusion_proof(leaves[:k], index), root(leaves[k:])]
    return [*inclusion_proof(leaves[k:], index - k), root(leaves[:k])]


def tensor_digest(name: str, array: np.ndarray) -> bytes:
    data = np.ascontiguousarray(array, array.dtype.newbyteorder("<")).tobytes()
    chunks = root([leaf(data[at : at + CHUNK]) for at in range(0, len(data), CHUNK)])
    record = {"chunks": chunks.hex(), "dtype": array.dtype.name, "name": name, "shape": list(array.shape)}
    return leaf(canonical(record))


# Rows as leaves [20].


def row_salt(key: bytes, name: str, row: int) -> bytes:
    return hmac.new(key, row.to_bytes(8, "little") + name.encode(), hashlib.sha256).digest()


def row_root(key: bytes, name: str, array: np.ndarray) -> bytes:
    little = np.ascontiguousarray(array, array.dtype.newbyteorder("<"))
    return root([leaf(row_salt(key, name, number) + row.tobytes()) for number, row in enumerate(little)])


def root_from(hash_: bytes, index: int, size: int, proof: list[bytes]) -> bytes:
    """The root to which an inclusion proof leads [5]; it takes siblings off the end of ``proof``, the highest first."""
    if size == 1:
        return hash_
    need(proof, "an inclusion proof that is too short")
    k = 1
    while 2 * k < size:
        k *= 2
    sibling = proof.pop()
    if index < k:
        return sha256(b"\x01" + root_from(hash_, index, k, proof) + sibling)
    return sha256(b"\x01" + sibling + root_from(hash_, index - k, size - k, proof))


def proven_rows(group: Mapping[str, np.ndarray], spec: Any) -> dict[int, bytes]:
    """The rows of an array in a capsule, by number, each proven to belong to the order [13, 20]."""
    numbers, values = group["rows"].tolist(), group["values"].tobytes()
    need(group.keys() == {"rows", "values", "salts", "proofs"}, "other datasets than those of rows")
    need(numbers == sorted(set(numbers)) and len(numbers) == len(group["salts"]), "rows twice, or not ascending")
    width = int(np.prod(spec["shape"][1:], dtype=int)) * np.dtype(spec["dtype"]).itemsize
    need(len(values) == width * len(numbers), "values of another length")
    siblings = [sibling.tobytes() for sibling in group["proofs"]]
    size, found = spec["shape"][0], {}
    for place, number in enumerate(numbers):
        need(0 <= number < size, "a row that the array does not have")
        value = values[width * place : width * (place + 1)]
        height = len(inclusion_proof([b""] * size, number))
        proof, siblings = siblings[:height], siblings[height:]
        own = leaf(group["salts"][place].tobytes() + value)
        need(root_from(own, number, size, proof).hex() == spec["rows"] and not proof, "a row of another array")
        found[number] = value
    need(not siblings, "proofs of more rows")
    return found


def state_root(state: Mapping[str, np.ndarray]) -> bytes:
    return root([tensor_digest(name, state[name]) for name in sorted(state, key=str.encode)])


def step_record(
    step: int, state: bytes | None, log: bytes, fingerprints: bytes, loss: float, shares: Any = None
) -> bytes:
    """The leaf's data; digests of log and fingerprints are taken here, ``shares`` is :func:`shares_field`'s."""
    return canonical(
        {
            "step": step,
            "state_root": None if state is None else state.hex(),
            "log": sha256(log).hex(),
            "fingerprints": sha256(fingerprints).hex(),
            "loss": float(loss).hex(),
            **({} if shares is None else {"shares": shares}),
        }
    )


# Shares [18].


@dataclass
class Share:
    """What a record of a share commits to: roots of what it gives and of its buffers, log, fingerprints, numbers."""

    gradients: bytes
    buffers: bytes
    log: bytes
    fingerprints: np.ndarray
    loss: float
    count: float

    def record(self, number: int) -> bytes:
        """The data of its leaf."""
        return canonical(
            {
                "share": number,
                "gradients": self.gradients.hex(),
                "buffers": self.buffers.hex(),
                "log": sha256(self.log).hex(),
                "fingerprints": sha256(self.fingerprints.astype("<u8").tobytes()).hex(),
                "loss": float(self.loss).hex(),
                "count": float(self.count).hex(),
            }
        )


def share_statement(order: bytes, step: int, before: bytes, record: bytes) -> bytes:
    """The bytes that a party signs of its share of a step, from the state of this root."""
    return party_statement(order, "share:v2", {"step": step, "state": before.hex(), "record": json.loads(record)})


def addition_statement(
    order: bytes, step: int, before: bytes, number: int, shares: Mapping[str, str], seen: bytes, hashes: bytes
) -> bytes:
    """The bytes that a party signs of what it added of its share; ``shares`` as :func:`shares_field` returns it."""
    predicate = {
        "step": step, "share": number, "state": before.hex(), "root": shares["root"],
        "exponents": shares["exponents"], "seen": seen.hex(), "added": sha256(hashes).hex(),
    }  # fmt: skip
    return party_statement(order, "addition:v1", predicate)


def party_statement(order: bytes, kind: str, predicate: Mapping[str, Any]) -> bytes:
    statement = {
        "_type": "https://in-toto.io/Statement/v1",
        "subject": [{"name": "order", "digest": {"sha256": order.hex()}}],
        "predicateType": f"urn:counterfoil:{kind}",
        "predicate": predicate,
    }
    payload = canonical(statement)
    return f"DSSEv1 28 application/vnd.in-toto+json {len(payload)} ".encode() + payload


def shares_field(shares: Sequence[Share], exponents: np.ndarray | None, combined: Sequence[bytes]) -> dict[str, str]:
    """What the record of a step has of its shares; without exponents nothing is added."""
    field = {"root": root([leaf(share.record(number)) for number, share in enumerate(shares)]).hex()}
    if exponents is not None:
        field |= {"exponents": sha256(exponents.astype("<i4").tobytes()).hex(), "combined": root(combined).hex()}
    return field


def sum_bits(count: int) -> int:
    return min(52, 62 - (count - 1).bit_length())


# Rounding logs [8].


@dataclass
class SiteLog:
    exponent: int | None
    indices: list[int] = field(default_factory=list)
    ups: list[bool] = field(default_factory=list)


def decode_log(data: bytes, elements: Iterable[int]) -> list[SiteLog]:
    need(data[:1] == b"\x01", "a log of another version")
    at = 1
    sites = []

    def number() -> int:
        nonlocal at
        value = 0
        for shift in range(0, 42, 7):
            need(at < len(data), "a log is too short")
            byte = data[at]
            at += 1
            value |= (byte & 0x7F) << shift
            if byte < 0x80:
                need(byte or not shift, "a number is not in its shortest form")
                return value
        raise RefusedError("a number is too long")

    for limit in elements:
        code, count = number(), number()
        half, odd = divmod(code - 1, 2)
        exponent = ZERO if code == 0 else -half - 1 if odd else half
        need(exponent is ZERO or -1074 <= exponent <= 127, "an impossible exponent")
        site = SiteLog(exponent)
        if count:
            need(count <= limit and at < len(data) and data[at] <= 40, "a site has no proper entries")
            rice = data[at]
            bits = np.unpackbits(np.frombuffer(data[at + 1 :], np.uint8), bitorder="little").tolist()
            position, index = 0, -1
            for _ in range(count):
                gap = 0
                need(0 in bits[position:], "a log is too short")
                while bits[position]:
                    gap += 1 << rice
                    position += 1
                low = bits[position + 1 : position + 2 + rice]
                need(len(low) == rice + 1, "a log is too short")
                gap += sum(bit << place for place, bit in enumerate(low[:-1]))
                position += rice + 2
                index += gap + 1
                need(index < limit, "an index is out of range")
                site.indices.append(index)
                site.ups.append(bool(low[-1]))
            need(not any(bits[position : -(-position // 8) * 8]), "padding is not zero")
            at += 1 + -(-position // 8)
        sites.append(site)
    need(at == len(data), "a log is too long")
    return sites


# Signatures [7].


def key_id(key: Ed25519PublicKey | EllipticCurvePublicKey) -> str:
    if isinstance(key, EllipticCurvePublicKey):
        pem = key.public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo).decode()
        return sha256(
            f'{{"keytype":"ecdsa","keyval":{{"public":"{pem}"}},"scheme":"ecdsa-sha2-nistp256"}}'.encode()
        ).hex()
    public = key.public_bytes(Encoding.Raw, PublicFormat.Raw).hex()
    return sha256(canonical({"keytype": "ed25519", "keyval": {"public": public}, "scheme": "ed25519"})).hex()


def open_envelope(data: bytes, key_of: Callable[[Any], str]) -> Any:
    """Check a DSSE envelope and return its statement; ``key_of`` says which PEM key of the statement to trust."""
    envelope = json.loads(data)
    kind, payload = envelope["payloadType"], base64.b64decode(envelope["payload"])
    need(kind == "application/vnd.in-toto+json", "the payload is not an in-toto statement")
    key = load_pem_public_key(key_of(json.loads(payload)).encode())
    assert isinstance(key, Ed25519PublicKey | EllipticCurvePublicKey)
    (signature,) = (base64.b64decode(s["sig"]) for s in envelope["signatures"] if s["keyid"] == key_id(key))
    signed = f"DSSEv1 {len(kind)} {kind} {len(payload)} ".encode() + payload
    if isinstance(key, EllipticCurvePublicKey):
        need(isinstance(key.curve, SECP256R1), "a key on another curve")
        key.verify(signature, signed, ECDSA(SHA256()))
    else:
        key.verify(signature, signed)
    return parse(payload)


# The file [1, 2, 4].


def written_pattern(manifest: Any) -> list[str]:
    """The names of the pattern [14]: listed, or, of more than 1,000 steps, as a text."""
    written = manifest["pattern"]
    if isinstance(written, list):
        need(len(written) <= 1000, "a list that should be a text")
        return written
    need(len(written) > 1000, "a text that should be a list")
    signs = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
    names = dict(zip(signs, sorted(manifest["programs"]), strict=False))
    return [names[sign] for sign in written]


def stops_after(losses: np.ndarray, patience: int, min_fall: float) -> int | None:
    """The step after which a rule to stop early ends a run with these losses [17]; None where it does not."""
    numbers = np.where(np.isnan(losses), np.inf, losses)
    for step in range(patience + 1, len(numbers) + 1):
        with np.errstate(invalid="ignore"):
            fall = numbers[: step - patience].min() - numbers[step - patience : step].min()
        if not (fall > 0 and fall >= min_fall):
            return step
    return None


class Bundle:
    """A bundle in memory. Steps count from 1; row s - 1 of a column is step s."""

    def __init__(self, path: Path) -> None:
        self.arrays: dict[str, np.ndarray] = {}

        def take(name: str, item: Any) -> None:
            if isinstance(item, h5py.Dataset):
                boolean = item.id.get_type().get_class() == h5py.h5t.BITFIELD
                self.arrays[name] = np.asarray(item[()]).view(np.bool_) if boolean else np.asarray(item[()])

        with h5py.File(path, "r") as file:
            name = file.attrs["format"]
            need(bytes(name).rstrip(b"\0") == f"counterfoil-{FORMAT}".encode(), "another format")
            file.visititems(take)
        self.manifest = parse(self.bytes("order/manifest"))
        # By name; an order's only program has none.
        several = "pattern" in self.manifest
        self.pattern = written_pattern(self.manifest) if several else [""]
        held = self.group("order/programs") if several else {"": self.arrays["order/program"]}
        self.programs = {name: parse(program.tobytes()) for name, program in held.items()}
        self.shares = self.manifest.get("shares")
        self.updates: dict[str, Any] = {}
        if self.shares is not None:
            ending = self.group("order/updates") if several else {"": self.arrays["order/update"]}
            self.updates = {name: parse(program.tobytes()) for name, program in ending.items()}
        self.digest = sha256(self.bytes("order/manifest"))
        self.ordered: int = self.manifest["steps"]
        self.steps: int = len(self.arrays["run/losses"]) if "run/losses" in self.arrays else self.ordered

    def bytes(self, path: str) -> bytes:
        return self.arrays[path].tobytes()

    def group(self, path: str) -> dict[str, np.ndarray]:
        prefix = path + "/"
        return {n.removeprefix(prefix): a for n, a in self.arrays.items() if n.startswith(prefix)}

    def turn(self, step: int) -> str:
        """The name of the program of a step [14]."""
        return self.pattern[(step - 1) % len(self.pattern)]

    def fingerprints(self, step: int) -> np.ndarray:
        return self.row("run/fingerprints", step)

    def row(self, path: str, step: int) -> np.ndarray:
        """The row of a step in a column that each program has for its own turns [14, 18]."""
        name = self.turn(step)
        row = sum(self.turn(before) == name for before in range(1, step))
        return self.arrays[f"{path}/{name}" if name else path][row]

    def committed(self, step: int) -> bool:
        return step % self.manifest["commit_every"] == 0 or step == self.steps

    def root_of(self, step: int) -> bytes | None:
        row = -(-step // self.manifest["commit_every"])
        return self.arrays["run/state_roots"][row].tobytes() if self.committed(step) else None

    def log(self, step: int) -> bytes:
        """The log of a step; where it has shares, that of its update."""
        return self.logs(step)[-1]

    def logs(self, step: int) -> list[bytes]:
        """The logs of the shares of a step, if it has some, and the log of the step or of its update."""
        ends = [0, *self.arrays["run/log_ends"].tolist()]
        log = self.arrays["run/log"][ends[step - 1] : ends[step]].tobytes()
        cuts = [0] if self.shares is None else [0, *self.arrays["run/shares/log_ends"][step - 1].tolist()]
        need(cuts == sorted(cuts) and cuts[-1] <= len(log), "ends that do not cut the log of a step")
        return [log[first:last] for first, last in zip(cuts, [*cuts[1:], len(log)], strict=True)]

    def shares_of(self, step: int) -> list[Share]:
        """What the records of the shares of a step are made of [18]."""
        roots, numbers = (self.arrays[f"run/shares/{name}"][step - 1] for name in ("roots", "numbers"))
        rows = self.row("run/shares/fingerprints", step)
        return [
            Share(own[0].tobytes(), own[1].tobytes(), log, row, *number)
            for own, log, row, number in zip(roots, self.logs(step)[:-1], rows, numbers.tolist(), strict=True)
        ]

    def shares_field(self, step: int) -> dict[str, str] | None:
        if self.shares is None:
            return None
        if self.shares["combine"]["rule"] != "sum":
            return shares_field(self.shares_of(step), None, [])
        digests = [digest.tobytes() for digest in self.row("run/shares/combined", step)]
        return shares_field(self.shares_of(step), self.row("run/shares/exponents", step), digests)

    def record(self, step: int) -> bytes:
        if step == 0:
            none = dict.fromkeys(("log", "fingerprints", "loss"))
            return canonical({"step": 0, "state_root": self.arrays["run/state_roots"][0].tobytes().hex(), **none})
        fingerprints = self.fingerprints(step).astype("<u8").tobytes()
        loss = float(self.arrays["run/losses"][step - 1])
        return step_record(step, self.root_of(step), self.log(step), fingerprints, loss, self.shares_field(step))

    def check_order(self) -> None:
        manifest = self.manifest
        need(manifest["format"] == MANIFEST_FORMAT, "another form of the manifest")
        if "pattern" in manifest:
            digests = {name: sha256(self.bytes(f"order/programs/{name}")).hex() for name in self.programs}
            need(digests == manifest["programs"] and set(self.pattern) == set(digests), "other programs")
            need("program" not in manifest and 2 <= len(self.pattern) <= min(self.ordered, 10**6), "no proper pattern")
        else:
            need(sha256(self.bytes("order/program")).hex() == manifest["program"], "another program")
        if self.shares is not None:
            self._check_shares()
        arrays = {"schedule": manifest["schedule"], "scalars": manifest["scalars"]}
        for name, spec in arrays.items():
            self._check(name, self.arrays[f"order/{name}"], spec)
        with_trees = [name for name, spec in manifest["data"].items() if "rows" in spec]
        need(bool(with_trees) == ("order/row_key" in self.arrays), "a key of salts, or none")
        for name, spec in manifest["data"].items():
            array = self.arrays[f"order/data/{name}"]
            tree = {"rows": row_root(self.bytes("order/row_key"), name, array).hex()} if name in with_trees else {}
            self._check(name, array, spec, tree)
            schedule = self.arrays["order/schedule"]
            need(schedule.min() >= 0 and schedule.max() < spec["shape"][0], "rows that the data do not have")
        need(state_root(self.group("order/data")).hex() == manifest["data_root"], "another data root")
        if "run/losses" not in self.arrays or self.group("order/initial"):  # a run may leave it to its order [19]
            need(state_root(self.group("order/initial")).hex() == manifest["initial_root"], "another initial state")
        need(manifest.get("last_checkpoint", "weights") == "weights", "an unknown last checkpoint")

    def _check_shares(self) -> None:
        """That an order with shares is one [18]."""
        shares, manifest = self.shares, self.manifest
        count, combine = shares["count"], shares["combine"]
        need(1 <= count <= 1024 and manifest["batch_size"] % count == 0, "shares into which rows do not divide")
        need(manifest["commit_every"] == 1, "states between steps with shares that nobody commits to")
        need(combine in ({"rule": "sum", "bits": sum_bits(count)}, {"rule": "stack"}), "an unknown combination")
        named, digests = ("update", sha256(canonical(self.updates[""])).hex()) if "" in self.updates else (
            "updates", {name: sha256(canonical(program)).hex() for name, program in self.updates.items()}
        )  # fmt: skip
        signers = {"signers": shares["signers"]} if "signers" in shares else {}
        need(shares == {"count": count, "combine": combine, named: digests} | signers, "other update programs")
        keys = shares.get("signers", [None] * count)
        need(len(keys) == count and all(k is None or re.fullmatch("[0-9a-f]{64}", k) for k in keys), "no list of keys")
        need(not signers or any(keys), "parties of which there are none")
        need(self.updates.keys() == self.programs.keys(), "other update programs")
        for name, program in self.programs.items():
            self.check_pair(program, self.updates[name], count if combine["rule"] == "stack" else None)

    @staticmethod
    def check_pair(program: Any, update: Any, side_by_side: int | None) -> None:
        """That an update program takes what its gradient program gives, and does not change the same."""
        declared = [*program["inputs"], *(output for node in program["nodes"] for output in node["outputs"])]
        given = {name: declared[number] for name, number in program.get("combined", {}).items()}
        need(given and "combined" not in update, "a program that gives nothing, or an update that does")
        for name, value in given.items():
            need(re.fullmatch(r"[A-Za-z0-9_.:-]{1,220}", name), "a value that is given under no name")
            need(value is not None and value["dtype"] == "float32", "a value that cannot be combined")
        need(not program["updates"].keys() & update["updates"].keys(), "a tensor that both programs change")
        need(given.get("count", {"shape": []})["shape"] == [], "a count that is no single number")
        before = [] if side_by_side is None else [side_by_side]
        names = [(item["kind"], item["name"]) for item in update["inputs"]]
        need(len(set(names)) == len(names), "two inputs of one name")
        for item in update["inputs"]:
            need(item["kind"] != "batch", "an update that reads rows")
            if item["kind"] == "combined":
                need(item["name"] in given, "an input that no share gives")
                need(item["dtype"] == "float32", "an input of another dtype than given")
                need(item["shape"] == [*before, *given[item["name"]]["shape"]], "an input of another shape than given")

    @staticmethod
    def _check(name: str, array: np.ndarray, spec: Any, more: Mapping[str, str] | None = None) -> None:
        found = {"dtype": array.dtype.name, "shape": list(array.shape), "digest": tensor_digest(name, array).hex()}
        need(found | (more or {}) == spec, f"another {name}")

    @property
    def client_key(self) -> str | None:
        """Key id of who signed the order as its client; None for an unsigned one [15]."""
        if "order/signature" not in self.arrays:
            return None
        key = load_pem_public_key(self._consent("order/signature", "order", {"signed_at"})["public_key"].encode())
        assert isinstance(key, Ed25519PublicKey | EllipticCurvePublicKey)
        return key_id(key)

    def _consent(self, path: str, kind: str, fields: set[str]) -> Any:
        """Check an envelope about the order by the key that it names; returns its predicate [15]."""
        data = self.bytes(path)
        need(len(data) <= 16_384, "an envelope that is too long")
        statement = open_envelope(data, lambda s: s["predicate"]["public_key"])
        predicate, digest = statement["predicate"], {"sha256": self.digest.hex()}
        need(statement["predicateType"] == f"urn:counterfoil:{kind}:v1", "another kind of statement")
        need(statement["subject"] == [{"name": "order", "digest": digest}], "another subject")
        need(predicate.keys() == fields | {"order", "public_key"}, "other fields")
        need(predicate["order"] == self.digest.hex(), "a signature about another order")
        return predicate

    def _check_end(self) -> None:
        """That the run ends where its order says [17]."""
        rule = self.manifest.get("may_stop_early")
        need(rule is not None or self.steps == self.ordered, "a run that must not stop early")
        if rule is not None:
            need(1 <= rule["patience"] < self.ordered, "a rule that never ends a run")
            end = stops_after(self.arrays["run/losses"], rule["patience"], float.fromhex(rule["min_fall"]))
            need(self.steps == (self.ordered if end is None else end), "a run that ends elsewhere than its rule says")

    def _check_signed_shares(self) -> None:
        """What parties signed of shares [18]."""
        signers = (self.shares or {}).get("signers")
        need((signers is not None) == ("run/shares/signatures" in self.arrays), "signatures of shares of nobody")
        for step in range(1, self.steps + 1) if signers else ():
            signatures = self.arrays["run/shares/signatures"][step - 1]
            for number, (share, key) in enumerate(zip(self.shares_of(step), signers, strict=True)):
                signature = signatures[number].tobytes()
                if key is None:
                    need(not any(signature), "a signature for which no party answers")
                    continue
                before = self.arrays["run/state_roots"][step - 1].tobytes()  # a state after every step [18]
                signed = share_statement(self.digest, step, before, share.record(number))
                Ed25519PublicKey.from_public_bytes(bytes.fromhex(key)).verify(signature, signed)
        signed_sums = bool(signers) and self.shares["combine"]["rule"] == "sum"
        need(signed_sums == ("run/shares/sums" in self.arrays), "sums that nobody signed")
        for step in range(1, self.steps + 1) if signed_sums else ():
            before = self.arrays["run/state_roots"][step - 1].tobytes()
            seen, hashes = self.arrays["run/shares/sums"][step - 1].tobytes(), self.row("run/shares/added", step)
            for number, key in enumerate(signers):
                own, signature = hashes[number].tobytes(), self.arrays["run/shares/sum_signatures"][step - 1, number]
                if key is None:
                    need(not any(own) and not signature.any(), "a sum for which no party answers")
                    continue
                about = self.digest, step, before, number, self.shares_field(step), seen, own
                public = Ed25519PublicKey.from_public_bytes(bytes.fromhex(key))
                public.verify(signature.tobytes(), addition_statement(*about))

    def check_run(self) -> bytes:
        """Check claim, acceptance, run root and checkpoints; returns the run root."""
        statement = open_envelope(self.bytes("run/claim"), lambda s: s["predicate"]["public_key"])
        claim = statement["predicate"]
        run_root = root([leaf(self.record(step)) for step in range(self.steps + 1)])
        short = self.steps < self.ordered
        need(statement["predicateType"] == f"urn:counterfoil:run:v{1 + short}", "not a run's claim")
        need(claim["order"] == self.digest.hex() and claim["steps"] == self.steps, "a claim of another order")
        need(claim.get("steps_ordered", self.ordered) == self.ordered, "a claim of another order")
        need(("steps_ordered" in claim) == short, "a claim of another length")
        need(claim["run_root"] == run_root.hex(), "another run root")
        self._check_end()
        self._check_signed_shares()
        digests = [subject["digest"] for subject in statement["subject"]]
        need(digests == [{"sha256": claim["order"]}, {"rfc9162Sha256": claim["run_root"]}], "other subjects")
        accepted = self._consent("run/acceptance", "acceptance", {"client_key", "accepted_at"})
        need(accepted["public_key"] == claim["public_key"], "another key accepted the order than signed the run")
        need(accepted["client_key"] == self.client_key, "the order of another client was accepted")
        for step in range(1, self.steps + 1):
            if step % self.manifest["checkpoint_every"] == 0 or step == self.steps:
                state = self.group(f"run/checkpoints/{step:010d}")
                digests = {name: tensor_digest(name, array) for name, array in state.items()}
                digests |= self._left_out(state) if step == self.steps else {}
                stored = root([digests[name] for name in sorted(digests, key=str.encode)])
                need(stored == self.root_of(step), f"another state of step {step}")
        return run_root

    def _left_out(self, held: Mapping[str, np.ndarray]) -> dict[str, bytes]:
        """The digests of the slots that the last checkpoint leaves out [19]."""
        asked = "last_checkpoint" in self.manifest
        need(asked == ("run/left_out" in self.arrays), "records of what is left out, or none")
        records = parse(self.bytes("run/left_out")) if asked else []
        names = [record["name"] for record in records]
        need(names == sorted(set(names), key=str.encode), "records that are not sorted")
        every = {*names, *held}
        slots = {n for n in every if n.partition(":")[2] in every and not n.startswith("average:")}
        need(not asked or slots == set(names), "other tensors left out than the slots")
        initial = self.group("order/initial")
        for record in records:
            need(record.keys() == {"chunks", "dtype", "name", "shape"}, "a record of no tensor")
            first = initial.get(record["name"])
            same = first is None or (first.dtype.name, list(first.shape)) == (record["dtype"], record["shape"])
            need(same and (first is not None or not initial), "a record of another tensor")
        return {record["name"]: leaf(canonical(record)) for record in records}
