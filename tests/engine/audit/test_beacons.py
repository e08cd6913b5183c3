"""Rounds of a public beacon: real ones of drand's chain quicknet, and what is none."""

from __future__ import annotations

import json
import sys
from datetime import UTC, datetime

import pytest

from counterfoil.audit.outside import read_beacon
from counterfoil_core.base.errors import DataError
from counterfoil_core.parties import beacons
from counterfoil_core.parties.beacons import check_beacon, signature_holds
from counterfoil_core.values.beacon import QUICKNET, Beacon

ROUND = {
    "round": 1000,
    "randomness": "fe290beca10872ef2fb164d2aa4442de4566183ec51c56ff3cd603d930e54fdd",
    "signature": "b44679b9a59af2ec876b1a6b1ad52ea9b1615fc3982b19576350f93447cb1125e342b73a8dd2bacbe47e4b6b63ed5e39",
}
"""As the League of Entropy published them; the second comes with the documentation of another verifier."""
OTHER = Beacon(
    QUICKNET,
    657413,
    "b713718a38ae728dfd477991af2822e08d2f305e47718cef9f7848ce4050e7be41076862b98fad56e91a6b85b89cd97b",
)
BEFORE = "2023-08-01T00:00:00Z"


@pytest.fixture
def beacon(tmp_path):
    path = tmp_path / "round.json"
    path.write_text(json.dumps(ROUND))
    return read_beacon(path)


def test_real_rounds(beacon):
    pytest.importorskip("py_ecc", reason="the extra beacon is not installed")
    limit = sys.getrecursionlimit()
    assert beacon.nonce == ROUND["randomness"]
    assert OTHER.nonce == "fc1873a13f3545aeade8401532ef5519920652eee6b0d2b19ca12643b87b3587"
    assert beacon.published == datetime(2023, 8, 23, 15, 59, 24, tzinfo=UTC), "round 1 was at 15:09:27"
    assert signature_holds(beacon)
    assert signature_holds(OTHER)
    assert sys.getrecursionlimit() == limit
    check_beacon(beacon, BEFORE)


@pytest.mark.sampled(3)
@pytest.mark.parametrize(
    ("number", "signature"),
    [
        (1001, ROUND["signature"]),
        (1000, OTHER.signature),
        # The point at infinity, no point at all, a point outside of the subgroup, a flag that is not set.
        (1000, "c0" + "00" * 47),
        (1000, "ff" * 48),
        (1000, "80" + "00" * 46 + "04"),
        (1000, "34" + str(ROUND["signature"])[2:]),
    ],
)
def test_what_the_beacon_did_not_sign(number, signature):
    pytest.importorskip("py_ecc", reason="the extra beacon is not installed")
    assert not signature_holds(Beacon(QUICKNET, number, signature))
    with pytest.raises(DataError, match="does not hold"):
        check_beacon(Beacon(QUICKNET, number, signature), BEFORE)


@pytest.mark.parametrize(
    ("signed_at", "now", "words"),
    [
        ("2023-08-23T15:59:24Z", datetime(2026, 1, 1, tzinfo=UTC), "the trainer could know the sample"),
        ("2025-01-31T12:00:00Z", datetime(2026, 1, 1, tzinfo=UTC), "the trainer could know the sample"),
        ("", datetime(2026, 1, 1, tzinfo=UTC), "does not say when it was signed"),
        ("yesterday", datetime(2026, 1, 1, tzinfo=UTC), "does not say when it was signed"),
        (BEFORE, datetime(2023, 8, 23, 15, 59, 23, tzinfo=UTC), "has not come yet"),
    ],
)
def test_a_round_that_shows_nothing(beacon, signed_at, now, words):
    with pytest.raises(DataError, match=words):
        check_beacon(beacon, signed_at, now)


def test_without_the_library_no_beacon_is_believed(beacon, monkeypatch):
    monkeypatch.setattr(beacons, "can_check", lambda: False)
    with pytest.raises(DataError, match="cannot be checked"):
        check_beacon(beacon, BEFORE)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "[]",
        "7",
        "{}",
        "[" * 100_000,
        json.dumps(ROUND | {"round": 0}),
        json.dumps(ROUND | {"round": 2**60}),
        json.dumps(ROUND | {"round": True}),
        json.dumps(ROUND | {"round": "1000"}),
        json.dumps(ROUND | {"signature": "b4"}),
        json.dumps(ROUND | {"signature": 7}),
        json.dumps(ROUND | {"signature": str(ROUND["signature"]).upper()}),
        json.dumps(ROUND | {"randomness": "00" * 32}),
        json.dumps(ROUND | {"more": "x" * 10_000}),
    ],
)
def test_a_file_that_is_no_round(text, tmp_path):
    path = tmp_path / "round.json"
    path.write_text(text)
    with pytest.raises(DataError):
        read_beacon(path)
