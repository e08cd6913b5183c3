"""A second reader, written from docs/bundle-format.md alone: h5py, hashlib and json, nothing of Counterfoil's."""

from __future__ import annotations

import base64
import hashlib
import json
from pathlib import Path
from typing import Any

import h5py
import numpy as np
import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat, load_pem_public_key

from counterfoil.bundle.capsulewriter import write_capsule
from counterfoil_core.base.turns import Turns
from counterfoil_core.bundle.capsule import CapsuleContents, ProvenLeaf
from counterfoil_core.bundle.reader import BundleReader
from counterfoil_core.bundle.schema import run_tree
from counterfoil_core.operators.node import TensorType, Value
from counterfoil_core.order.executable import LoadedOrder
from counterfoil_core.program.graph import Input, Program
from support.bundles import Contents, make_contents, write_bundle


def sha(data: bytes) -> bytes:
    return hashlib.sha256(data).digest()


def root(hashes: list[bytes]) -> bytes:
    if not hashes:
        return sha(b"")
    if len(hashes) == 1:
        return hashes[0]
    k = 1
    while 2 * k < len(hashes):
        k *= 2
    return sha(b"\1" + root(hashes[:k]) + root(hashes[k:]))


def canonical(value: Any) -> bytes:
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False).encode()


def tensor(name: str, dataset: h5py.Dataset) -> bytes:
    is_bool = dataset.id.get_type() == h5py.h5t.STD_B8LE
    data = dataset[()].tobytes()
    chunks = root([sha(b"\0" + data[at : at + 16384]) for at in range(0, len(data), 16384)])
    dtype = "bool" if is_bool else dataset.dtype.name
    record = {"name": name, "dtype": dtype, "shape": list(dataset.shape), "chunks": chunks.hex()}
    return sha(b"\0" + canonical(record))


def state(group: h5py.Group) -> bytes:
    return root([tensor(name, group[name]) for name in sorted(group)])


@pytest.mark.parametrize(("steps", "commit_every", "checkpoint_every"), [(5, 1, 2), (7, 2, 4), (4, 9, 9)])
def test_the_page_is_enough_to_check_a_bundle(
    tmp_path: Path, steps: int, commit_every: int, checkpoint_every: int
) -> None:
    contents = make_contents(steps=steps, commit_every=commit_every, checkpoint_every=checkpoint_every)
    path = write_bundle(tmp_path / "run.cfoil", contents)
    with h5py.File(path) as file:
        assert file.attrs["format"] == b"counterfoil-3"
        order, run = file["order"], file["run"]
        raw = order["manifest"][()].tobytes()
        manifest = json.loads(raw)
        assert canonical(manifest) == raw
        assert sha(order["program"][()].tobytes()).hex() == manifest["program"]
        for name in ("schedule", "scalars"):
            assert tensor(name, order[name]).hex() == manifest[name]["digest"]
        for name, spec in manifest["data"].items():
            assert tensor(name, order["data"][name]).hex() == spec["digest"]
        assert state(order["data"]).hex() == manifest["data_root"]
        assert state(order["initial"]).hex() == manifest["initial_root"]

        leaves = []
        start = 0
        for step in range(manifest["steps"] + 1):
            row = None
            if step % manifest["commit_every"] == 0 or step == manifest["steps"]:
                row = run["state_roots"][-(-step // manifest["commit_every"])].tobytes().hex()
            record: dict[str, Any] = {
                "step": step,
                "state_root": row,
                "log": None,
                "fingerprints": None,
                "loss": None,
            }
            if step:
                end = int(run["log_ends"][step - 1])
                record["log"] = sha(run["log"][start:end].tobytes()).hex()
                record["fingerprints"] = sha(run["fingerprints"][step - 1].astype("<u8").tobytes()).hex()
                record["loss"] = float(run["losses"][step - 1]).hex()
                start = end
            leaves.append(sha(b"\0" + canonical(record)))
            checkpoint = f"checkpoints/{step:010d}"
            stored = step > 0 and (step % manifest["checkpoint_every"] == 0 or step == manifest["steps"])
            assert (checkpoint in run) == stored
            if stored:
                assert state(run[checkpoint]).hex() == row
        run_root = root(leaves)

        envelope = json.loads(run["claim"][()].tobytes())
        payload = base64.b64decode(envelope["payload"])
        statement = json.loads(payload)
        key = load_pem_public_key(statement["predicate"]["public_key"].encode())
        assert isinstance(key, Ed25519PublicKey)
        signed = b"DSSEv1 28 application/vnd.in-toto+json " + str(len(payload)).encode() + b" " + payload
        key.verify(base64.b64decode(envelope["signatures"][0]["sig"]), signed)
        public = key.public_bytes(Encoding.Raw, PublicFormat.Raw).hex()
        text = f'{{"keytype":"ed25519","keyval":{{"public":"{public}"}},"scheme":"ed25519"}}'
        assert envelope["signatures"][0]["keyid"] == sha(text.encode()).hex()
        assert statement["predicate"]["run_root"] == run_root.hex()
        assert statement["predicate"]["order"] == sha(raw).hex()
        assert statement["subject"] == [
            {"name": "order", "digest": {"sha256": sha(raw).hex()}},
            {"name": "run", "digest": {"rfc9162Sha256": run_root.hex()}},
        ]


def test_the_page_and_the_reader_name_the_same_datasets(tmp_path: Path) -> None:
    """Every dataset of a bundle stands in the page's tables, and the reader knows all that stand there."""
    page = (Path(__file__).parents[3] / "docs" / "bundle-format.md").read_text()
    named: list[str] = []
    path = write_bundle(tmp_path / "run.cfoil", make_contents())
    with h5py.File(path) as file:
        file.visititems(lambda name, item: named.append(f"/{name}") if isinstance(item, h5py.Dataset) else None)
    for name in named:
        general = name
        for prefix, last in (("/order/data/", "<name>"), ("/order/initial/", "<tensor>")):
            if name.startswith(prefix):
                general = prefix + last
        if name.startswith("/run/checkpoints/"):
            general = "/run/checkpoints/<step>/<tensor>"
        assert f"| `{general}` |" in page
    with BundleReader.open(path) as reader:
        assert np.isfinite(reader.losses()).all()


def proven_rows(group: h5py.Group, name: str, spec: dict[str, Any], wanted: set[int]) -> dict[int, bytes]:
    """Read rows of an array out of its proven chunks, checking every proof as the page says."""
    itemsize = np.dtype(spec["dtype"]).itemsize
    width = int(np.prod(spec["shape"][1:])) * itemsize
    size = int(np.prod(spec["shape"])) * itemsize
    count = -(-size // 16384)
    data, siblings = group["chunks"][()].tobytes(), [row.tobytes() for row in group["proofs"]]
    total = group["root"][()].tobytes()
    record = {"name": name, "dtype": spec["dtype"], "shape": spec["shape"], "chunks": total.hex()}
    if wanted and width:
        assert sha(b"\0" + canonical(record)).hex() == spec["digest"]
    chunks = {}
    for index in map(int, group["indices"]):
        length = min(16384, size - 16384 * index)
        chunk, data = data[:length], data[length:]
        # RFC 9162, section 2.1.3.2.
        node, fn, sn = sha(b"\0" + chunk), index, count - 1
        while sn:
            if fn % 2:
                node = sha(b"\1" + siblings.pop(0) + node)
            elif fn != sn:
                node = sha(b"\1" + node + siblings.pop(0))
            fn, sn = fn // 2, sn // 2
        assert node == total
        chunks[index] = chunk
    assert not data
    assert not siblings
    needed = {at // 16384 for row in wanted for at in range(row * width, (row + 1) * width)}
    assert sorted(needed) == list(chunks)
    return {
        row: b"".join(bytes([chunks[at // 16384][at % 16384]]) for at in range(row * width, (row + 1) * width))
        for row in wanted
    }


@pytest.mark.parametrize(("commit_every", "step"), [(1, 4), (1, 1), (3, 5), (2, 6)])
def test_the_page_is_enough_to_check_a_capsule(tmp_path: Path, commit_every: int, step: int) -> None:
    """Written by the library from a run of random arrays, read by the page."""
    contents = make_contents(steps=7, commit_every=commit_every, checkpoint_every=6, rows=700)
    run = write_bundle(tmp_path / "run.cfoil", contents)
    path = tmp_path / "dispute.cfoil"
    first = (step - 1) // commit_every * commit_every
    write_capsule(capsule_of(run, contents, step), path)
    with h5py.File(path) as file:
        assert file.attrs["format"] == b"counterfoil-capsule-3"
        raw = file["order/manifest"][()].tobytes()
        manifest = json.loads(raw)
        assert sha(file["order/program"][()].tobytes()).hex() == manifest["program"]
        capsule = file["capsule"]
        steps = set(range(first, step))
        schedule = proven_rows(capsule["schedule"], "schedule", manifest["schedule"], steps)
        named = {int(row) for data in schedule.values() for row in np.frombuffer(data, "<i8")}
        assert {row for at in steps for row in contents.schedule[at].tolist()} == named
        scalars = proven_rows(capsule["scalars"], "scalars", manifest["scalars"], steps)
        assert all(scalars[at] == contents.scalars[at].tobytes() for at in steps)
        for name, group in capsule["data"].items():
            rows = proven_rows(group, name, manifest["data"][name], named)
            assert all(rows[row] == contents.data[name][row].tobytes() for row in named)
        leaves = json.loads(capsule["leaves"][()].tobytes())
        assert [leaf["record"]["step"] for leaf in leaves] == list(range(first, step + 1))
        claim = json.loads(base64.b64decode(json.loads(file["run/claim"][()].tobytes())["payload"]))["predicate"]
        assert claim["order"] == sha(raw).hex()
        for leaf in leaves:
            node, fn, sn = sha(b"\0" + canonical(leaf["record"])), leaf["record"]["step"], manifest["steps"]
            proof = [bytes.fromhex(text) for text in leaf["proof"]]
            while sn:
                if fn % 2:
                    node = sha(b"\1" + proof.pop(0) + node)
                elif fn != sn:
                    node = sha(b"\1" + node + proof.pop(0))
                fn, sn = fn // 2, sn // 2
            assert node.hex() == claim["run_root"]
            assert not proof
        assert state(capsule["state"]).hex() == leaves[0]["record"]["state_root"]
        start = 0
        for leaf, end, row in zip(leaves[1:], capsule["log_ends"], capsule["fingerprints"], strict=True):
            assert sha(capsule["log"][start : int(end)].tobytes()).hex() == leaf["record"]["log"]
            assert sha(row.astype("<u8").tobytes()).hex() == leaf["record"]["fingerprints"]
            start = int(end)
        named_paths: list[str] = []
        file.visititems(lambda name, item: named_paths.append(f"/{name}") if isinstance(item, h5py.Dataset) else None)
    page = (Path(__file__).parents[3] / "docs" / "bundle-format.md").read_text()
    for name in named_paths:
        group, _, last = name.rpartition("/")
        if group.startswith(("/capsule/schedule", "/capsule/scalars", "/capsule/data/")):
            general = "/".join(["/capsule/data/<name>" if "/data/" in group else group, "..."])
            assert f"`{general}`" in page
            assert f"| `{last}` |" in page
        else:
            assert f"`{'/capsule/state/<tensor>' if group == '/capsule/state' else name}`" in page


def capsule_of(run: Path, contents: Contents, step: int) -> CapsuleContents:
    """What the capsule of a step of these contents holds; the program does nothing but read all data."""
    manifest = contents.manifest
    first = (step - 1) // manifest.commit_every * manifest.commit_every
    inputs = [Input(name, "batch", TensorType(spec.dtype, ())) for name, spec in manifest.data.items()]
    program = Program(tuple(inputs), (), {}, Value(0))
    order = LoadedOrder(manifest, Turns.alone(program), {}, contents.schedule, contents.scalars, contents.data)
    with BundleReader.open(run) as reader:
        records = reader.step_records()
        tree = run_tree(records)
        return CapsuleContents(
            manifest=manifest,
            programs=Turns.alone(contents.program),
            signature=reader.order_signature(),
            acceptance=reader.acceptance(),
            claim=reader.claim(),
            leaves=tuple(ProvenLeaf(records[at], tree.inclusion_proof(at)) for at in range(first, step + 1)),
            state=contents.steps[first - 1].state if first else contents.initial,
            logs=tuple(reader.log(at) for at in range(first + 1, step + 1)),
            fingerprints=tuple(reader.fingerprints(at) for at in range(first + 1, step + 1)),
            part=order.part(first + 1, step),
        )
