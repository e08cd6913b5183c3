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

from counterfoil.bundle.reader import BundleReader
from support.bundles import make_contents, write_bundle


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
        assert file.attrs["format"] == b"counterfoil-1"
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
