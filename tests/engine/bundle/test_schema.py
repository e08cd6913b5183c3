"""The records of a bundle: strict parsing, and the arithmetic of committed and stored steps."""

from __future__ import annotations

import copy
import dataclasses
import json
from typing import Any

import pytest
from hypothesis import given, strategies as st

from counterfoil_core.base import canonical
from counterfoil_core.base.digest import Digest
from counterfoil_core.base.errors import BundleError
from counterfoil_core.base.precision import PROFILES, ExactPrecision, Precision, precision_from_json
from counterfoil_core.bundle.schema import OrderManifest, StepRecord, check_name, run_tree
from counterfoil_core.bundle.sources import Source, SourceFile
from counterfoil_core.commit.merkle import MerkleTree, leaf_hash
from support.bundles import make_contents

MANIFEST = make_contents().manifest
VALUE: dict[str, Any] = json.loads(MANIFEST.to_bytes())
JUNK = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**53) + 1, 2**53 - 1)
    | st.text(st.characters(exclude_categories=["Cs"])),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text("abc/.\u00e9", max_size=3), inner, max_size=3),
    max_leaves=6,
)


def paths(value: Any, here: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """Every place in a JSON value."""
    found = [here] if here else []
    if isinstance(value, dict):
        for key, item in value.items():
            found += paths(item, (*here, key))
    elif isinstance(value, list):
        for index, item in enumerate(value):
            found += paths(item, (*here, index))
    return found


def test_the_manifest_round_trips() -> None:
    assert OrderManifest.from_bytes(MANIFEST.to_bytes()) == MANIFEST
    assert MANIFEST.digest == Digest.of(MANIFEST.to_bytes())


SOURCES = {
    "data": Source({"train.jsonl": SourceFile(12, Digest.of(b"rows"))}),
    "model": Source({"model.safetensors": SourceFile(0, Digest.of(b""))}, "607a30d783df"),
}


def test_the_sources_of_an_order_are_in_its_digest_and_absent_without_any() -> None:
    assert b"sources" not in MANIFEST.to_bytes()
    named = dataclasses.replace(MANIFEST, sources=SOURCES)
    assert OrderManifest.from_bytes(named.to_bytes()) == named
    assert named.digest != MANIFEST.digest


def test_sources_that_are_no_sources_are_refused() -> None:
    value = json.loads(dataclasses.replace(MANIFEST, sources=SOURCES).to_bytes())
    file = value["sources"]["model"]["files"]["model.safetensors"]
    bad = (
        {},
        [],
        {"a/b": value["sources"]["model"]},
        {str(number): value["sources"]["model"] for number in range(9)},
        {"model": {"files": {str(number): file for number in range(257)}}},
        *({"model": item} for item in ({}, {"files": {}}, {"files": {"a\n": file}}, {"files": {"x" * 201: file}})),
        *({"model": {"files": {"a": {**file, **change}}}} for change in ({"bytes": -1}, {"sha256": "0"}, {"more": 1})),
        *({"model": {"files": {"a": file}, "revision": text}} for text in ("", None, "a\n", 7)),
    )
    for sources in bad:
        with pytest.raises(BundleError):
            OrderManifest.from_bytes(canonical.encode({**value, "sources": sources}))


@pytest.mark.parametrize("place", paths(VALUE), ids=lambda place: ".".join(map(str, place)))
def test_a_missing_or_foreign_value_is_refused(place: tuple[Any, ...]) -> None:
    for change in ("delete", "object", "extra"):
        value = copy.deepcopy(VALUE)
        parent = value
        for key in place[:-1]:
            parent = parent[key]
        if change == "delete":
            del parent[place[-1]]
            if place[0] == "data" and (len(place) == 2 or "shape" in place):
                continue  # An order without this array, or with another shape of it, is another good order.
        elif change == "object":
            parent[place[-1]] = {"surprise": None}
        elif isinstance(parent, dict) and place[:-1] not in [("data",), ("precision", "margins")]:
            parent["surprise"] = 1
        else:
            continue
        with pytest.raises(BundleError):
            OrderManifest.from_bytes(canonical.encode(value))


@given(place=st.sampled_from(paths(VALUE)), junk=JUNK)
def test_junk_anywhere_in_a_manifest_gives_our_error_or_a_manifest(place: tuple[Any, ...], junk: Any) -> None:
    value = copy.deepcopy(VALUE)
    parent = value
    for key in place[:-1]:
        parent = parent[key]
    parent[place[-1]] = junk
    data = canonical.encode(value)
    try:
        manifest = OrderManifest.from_bytes(data)
    except BundleError:
        return
    assert manifest.to_bytes() == data


@given(data=st.binary(max_size=60))
def test_junk_bytes_are_no_manifest(data: bytes) -> None:
    with pytest.raises(BundleError):
        OrderManifest.from_bytes(data)


@pytest.mark.parametrize("seed", ["-1", "01", "+1", " 1", "1_0", str(2**64), "\u0661", "", "1e3"])
def test_a_seed_that_is_no_plain_number_is_refused(seed: str) -> None:
    with pytest.raises(BundleError, match="seed"):
        OrderManifest.from_bytes(canonical.encode({**VALUE, "seed": seed}))


@given(steps=st.integers(1, 60), commit=st.integers(1, 12), times=st.integers(1, 5))
def test_counts_agree_with_the_rules_for_single_steps(steps: int, commit: int, times: int) -> None:
    manifest = dataclasses.replace(
        MANIFEST,
        steps=steps,
        commit_every=commit,
        checkpoint_every=commit * times,
        schedule=dataclasses.replace(MANIFEST.schedule, shape=(steps, MANIFEST.batch_size)),
        scalars=dataclasses.replace(MANIFEST.scalars, shape=(steps, 2)),
    )
    committed = [step for step in range(-2, steps + 20) if manifest.extent.is_committed(step)]
    stored = [step for step in range(-2, steps + 20) if manifest.extent.is_checkpoint(step)]
    assert len(committed) == manifest.extent.committed_steps
    assert committed[0] == 0
    assert committed[-1] == steps
    assert [-(-step // commit) for step in committed] == list(range(len(committed)))
    assert manifest.extent.checkpoint_steps == tuple(stored)
    assert len(stored) == manifest.extent.checkpoint_count
    assert set(stored) <= set(committed)


@pytest.mark.parametrize("name", ["", ".", "..", "a/b", "a b", "a\n", "\u00e9", "x" * 201, "a\0", 3, None])
def test_names_that_cannot_stand_in_a_bundle(name: Any) -> None:
    with pytest.raises(BundleError):
        check_name(name)


def test_names_that_can() -> None:
    for name in ("a", "layer3.0.conv2:momentum", "...", "x" * 200, "-", "optimizer.0:exp_avg_sq"):
        assert check_name(name) == name


def test_the_step_record_is_what_the_page_says() -> None:
    record = StepRecord(3, None, Digest(bytes(32)), Digest(b"\1" * 32), -1.5)
    zeros, ones = "00" * 32, "01" * 32
    assert record.to_bytes() == (
        f'{{"fingerprints":"{ones}","log":"{zeros}","loss":"-0x1.8000000000000p+0","state_root":null,"step":3}}'.encode()
    )
    start = StepRecord(0, Digest(bytes(32)), None, None, None)
    assert (
        start.to_bytes() == f'{{"fingerprints":null,"log":null,"loss":null,"state_root":"{zeros}","step":0}}'.encode()
    )
    assert run_tree([start, record]).root == MerkleTree(map(leaf_hash, [start.to_bytes(), record.to_bytes()])).root


@pytest.mark.parametrize("name", PROFILES)
def test_every_profile_round_trips(name: str) -> None:
    profile = PROFILES[name]
    others = [dataclasses.replace(profile, proven=not profile.proven)] if isinstance(profile, Precision) else []
    for precision in (profile, *others):
        manifest = dataclasses.replace(MANIFEST, precision=precision)
        assert OrderManifest.from_bytes(manifest.to_bytes()) == manifest
        assert precision.describe().startswith(name.split("-")[0])


def test_the_rounded_profiles_keep_18_to_24_bits_of_float64_or_8_of_float32() -> None:
    profiles = [profile for profile in PROFILES.values() if isinstance(profile, Precision)]
    assert [p.significand_bits for p in profiles] == [*range(24, 17, -1), 8]
    assert [p.compute for p in profiles] == ["float64"] * 7 + ["float32"]
    assert PROFILES["float64-24"] == Precision()
    for precision in profiles:
        least, most = precision.margin_range
        assert least <= precision.margin_bits <= most


def test_an_exact_profile_is_its_number_of_bits() -> None:
    assert {name: p for name, p in PROFILES.items() if isinstance(p, ExactPrecision)} == {
        f"exact-{bits}{rows}": ExactPrecision(bits, bool(rows)) for bits in range(8, 25) for rows in ("", "-rows")
    }
    assert ExactPrecision(20).to_json() == {"exact_bits": 20}
    assert ExactPrecision(20, rows=True).to_json() == {"exact_bits": 20, "rows": True}
    for precision in PROFILES.values():
        assert precision_from_json(precision.to_json()) == precision


@pytest.mark.parametrize(
    ("value", "words"),
    [
        ({"exact_bits": 7}, "Exact operands of 7 bits"),
        ({"exact_bits": 25}, "8 to 24 are"),
        ({"exact_bits": 20, "proven": True}, "unknown field 'proven'"),
        ({"exact_bits": "20"}, "type int"),
        ({"exact_bits": True}, "type int"),
        ({"exact_bits": 20, "rows": False}, "there and not true"),
        ({"exact_bits": 20, "rows": 1}, "type bool"),
    ],
)
def test_an_exact_profile_is_read_strictly(value: dict[str, Any], words: str) -> None:
    with pytest.raises(BundleError, match=words):
        precision_from_json(value)


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"compute": "float16"}, "float64 and float32 are"),
        ({"significand_bits": 8}, "18 to 24 are"),
        ({"compute": "float32"}, "8 are"),
        ({"guard_bits": 13}, "0 to 12 are"),
        ({"compute": "float32", "significand_bits": 8, "guard_bits": 12, "margin_bits": 21}, "0 to 11 are"),
        ({"margin_bits": 33}, "34 to 50"),
        ({"margin_bits": 51}, "34 to 50"),
        ({"margins": (("mm", 51),)}, "margin of mm"),
        ({"compute": "float32", "significand_bits": 8, "guard_bits": 4, "margin_bits": 44}, "14 to 21"),
    ],
)
def test_numbers_that_do_not_fit_together_are_refused(changes: dict[str, Any], words: str) -> None:
    with pytest.raises(BundleError, match=words):
        dataclasses.replace(Precision(), **changes)
