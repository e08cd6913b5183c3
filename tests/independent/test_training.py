"""A trainer that shares no code with Counterfoil: its runs are what its own reader checks and its replayer replays."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from independent.bundle import Bundle, RefusedError, decode_log, leaf
from independent.exact import replayer_of
from independent.shares import added, exponent_of
from independent.training import encoded, train

FOLDER = Path(__file__).parents[1] / "vectors"
RUNS = ("convolution", "transformer", "exact", "turns")
KEY = Ed25519PrivateKey.from_private_bytes(bytes(range(32)))


@pytest.mark.parametrize("name", RUNS)
def test_a_run_that_it_trains_is_one(name: str, tmp_path: Path) -> None:
    """Under an exact profile it is the run of every trainer; under others each has its own log."""
    order, path = FOLDER / f"{name}.cfoil", tmp_path / "run.cfoil"
    found, bundle = train(order, path, KEY), Bundle(path)
    bundle.check_order()
    assert bundle.check_run() == found
    assert bundle.digest == Bundle(order).digest
    if name == "exact":
        assert found == Bundle(order).check_run()
    state, entries = bundle.group("order/initial"), 0
    for step in range(1, bundle.steps + 1):
        result, leaf_hash = replayer_of(bundle, bundle.turn(step)).replay(step, state)
        assert (result.counts.corrections, result.counts.contradictions, result.counts.omissions) == (0, 0, 0)
        assert leaf_hash == leaf(bundle.record(step))
        state, entries = result.state, entries + sum(len(site.indices) for site in result.log)
    assert entries == bundle.arrays["run/log_entries"].sum()


def test_its_logs_have_the_bytes_that_the_recorder_writes() -> None:
    sizes = set()
    for name in ("convolution", "transformer", "turns"):
        bundle = Bundle(FOLDER / f"{name}.cfoil")
        for step in range(1, bundle.steps + 1):
            log = bundle.log(step)
            sites = decode_log(log, replayer_of(bundle, bundle.turn(step)).sites)
            assert encoded(sites) == log
            sizes |= {len(site.indices) for site in sites}
    assert len(sizes) > 2, "several entries at a site, and none"


def test_control_another_key_and_another_state_are_noticed(tmp_path: Path) -> None:
    train(FOLDER / "exact.cfoil", tmp_path / "run.cfoil", KEY)
    bundle = Bundle(tmp_path / "run.cfoil")
    name = next(n for n in bundle.arrays if n.startswith("run/checkpoints/") and n.endswith(".weight"))
    own, bundle.arrays[name] = bundle.arrays[name], bundle.arrays[name] * np.float32(2)
    with pytest.raises(RefusedError, match="another state"):
        bundle.check_run()
    bundle.arrays[name] = own
    bundle.check_run()
    claim = bytearray(bundle.bytes("run/claim"))
    claim[claim.index(b'"sig":"') + 9] ^= 1
    bundle.arrays["run/claim"] = np.frombuffer(bytes(claim), np.uint8)
    with pytest.raises(InvalidSignature):
        bundle.check_run()


# The combine rule, in numbers that can be followed.


@pytest.mark.parametrize(
    ("shares", "bits", "exponent", "total"),
    [
        ([1.0, 1.0, 1.0], 52, 1, 3.0),
        ([-0.0, 0.0], 52, -(2**31), 0.0),
        ([2.0, -2.0, 0.0], 52, 2, 0.0),
        ([1.0, 2.0**-60, 2.0**-60], 52, 1, 1.0),
        ([2.0**-149, -(2.0**-149), 2.0**-149], 52, -148, 2.0**-149),
        # A tie of the last rounding: 1 + 2^-24 goes to the even 1; a third share above it decides.
        ([1.0, 2.0**-24, 0.0], 52, 1, 1.0),
        ([1.0, 2.0**-24, 2.0**-45], 52, 1, 1 + 2.0**-23),
        # A tie of quantisation, with 2 bits below 2^1: 0.25 is half a unit and goes to the even 0, 0.75 to 1.
        ([1.0, 0.25, 0.0], 2, 1, 1.0),
        ([1.0, 0.75, 0.0], 2, 1, 2.0),
        # Rounding up to 2^b itself.
        ([1.9375, 0.0, 0.0], 2, 1, 2.0),
    ],
)
def test_sums_of_shares(shares: list[float], bits: int, exponent: int, total: float) -> None:
    arrays = [np.array([share], np.float32) for share in shares]
    assert exponent_of(arrays) == exponent
    found, used = added(arrays, bits)
    assert (found.dtype, found.tolist(), used) == (np.float32, [total], exponent)
    assert not np.signbit(found[0])
    assert added(arrays[::-1], bits)[0].tolist() == [total], "in any order"


def test_a_sum_that_float32_cannot_hold_is_none() -> None:
    largest = np.array([np.finfo(np.float32).max], np.float32)
    assert added([largest, -largest, largest], 52)[0].tolist() == largest.tolist()
    with pytest.raises(RefusedError, match="beyond"):
        added([largest, largest, -largest / 2], 52)
