"""Damaged files: whatever is broken, the reader ends in its own error, or the digests tell, or nothing changed."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from counterfoil_core.base.errors import BundleError, RefusedError
from counterfoil_core.bundle.reader import BundleReader
from counterfoil_core.bundle.schema import run_tree
from counterfoil_core.signing.claims import RunClaim
from counterfoil_core.signing.statements import open_said
from support.bundles import make_contents, same_state, write_bundle


def audit(path: Path) -> None:
    """Make every check that needs no replay; raises RefusedError when one fails."""
    contents = make_contents()
    with BundleReader.open(path) as reader:
        reader.check_order_contents()
        claim = open_said(RunClaim, reader.claim())
        records = reader.step_records()
        if run_tree(records).root != claim.run_root or reader.manifest.digest != claim.order:
            raise RefusedError("The commitments differ.")
        states = {step: reader.checkpoint(step) for step in reader.checkpoint_steps()}
        reader.log_entries()
        # All checks passed, so nothing may have changed.
        assert reader.manifest == contents.manifest
        assert records == contents.records()
        assert same_state(reader.initial_state(), contents.initial)
        assert same_state({name: reader.data(name) for name in contents.data}, contents.data)
        for step, state in states.items():
            assert same_state(state, contents.steps[step - 1].state)


@pytest.fixture(scope="module")
def good(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    path = write_bundle(tmp_path_factory.mktemp("good") / "run.cfoil", make_contents())
    audit(path)
    return path.read_bytes()


def test_no_flipped_bit_is_overlooked(tmp_path: Path, good: bytes) -> None:
    rng = np.random.default_rng(20240917)
    path = tmp_path / "damaged.cfoil"
    refused = 0
    # The start holds the superblock and the first headers, where a flip can hurt most.
    places = [*range(0, 700, 5), *rng.integers(700, len(good), 100).tolist()]
    for place in places:
        data = bytearray(good)
        data[place] ^= 1 << int(rng.integers(8))
        path.write_bytes(data)
        try:
            audit(path)
        except RefusedError:
            refused += 1
    assert refused > len(places) // 2, "control: damage is found"


@pytest.mark.parametrize("share", [0.0, 0.0001, 0.001, 0.01, 0.1, 0.3, 0.5, 0.7, 0.9, 0.99, 0.9999])
def test_a_truncated_file_is_refused(tmp_path: Path, good: bytes, share: float) -> None:
    path = tmp_path / "short.cfoil"
    path.write_bytes(good[: int(share * len(good))])
    with pytest.raises(BundleError):
        BundleReader.open(path)


@settings(max_examples=60)
@given(junk=st.binary(max_size=400), start=st.integers(0, 1000))
def test_junk_in_the_headers_ends_in_our_error(
    tmp_path_factory: pytest.TempPathFactory, good: bytes, junk: bytes, start: int
) -> None:
    path = tmp_path_factory.getbasetemp() / "junk.cfoil"
    path.write_bytes(good[:start] + junk + good[start + len(junk) :])
    try:
        audit(path)
    except RefusedError:
        return
