"""The conformance vectors, checked by the second implementation."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from independent.bundle import (
    Bundle,
    RefusedError,
    SiteLog,
    canonical,
    decode_log,
    inclusion_proof,
    key_id,
    leaf,
    open_envelope,
    parse,
    root,
    state_root,
    step_record,
    stops_after,
    sum_bits,
    tensor_digest,
)
from independent.exact import function, once, product, quantised, replayer_of, summed
from independent.replay import DRAWS, Counts, Grid, Replayer, fingerprint, follow, philox, rounded, step_key, uniform
from independent.shares import SharedSteps, added, exponent_of, in_integers

FOLDER = Path(__file__).parents[1] / "vectors"
RUNS = ("convolution", "transformer", "exact", "rows", "turns", "stopped")


def load(name: str) -> Any:
    return json.loads((FOLDER / f"{name}.json").read_text(encoding="utf-8"))


def floats(texts: list[str]) -> np.ndarray:
    return np.array([float.fromhex(text) for text in texts])


def same_bits(one: np.ndarray, other: np.ndarray) -> bool:
    return one.dtype == other.dtype == np.float64 and one.tobytes() == other.tobytes()


def array_of(item: Any) -> np.ndarray:
    if item["bytes"] == "0, 1, 2, ...":
        return np.arange(5000, dtype=np.float32)
    dtype = np.dtype(item["dtype"]).newbyteorder("<")
    array = np.frombuffer(bytes.fromhex(item["bytes"]), dtype)
    return array.reshape(item.get("shape", array.shape)).astype(item["dtype"])


def test_canonical_json():
    vector = load("canonical_json")
    for item in vector["accepted"]:
        assert canonical(item["value"]).hex() == item["bytes"]
        assert parse(bytes.fromhex(item["bytes"])) == item["value"]
    for data in vector["refused"]:
        with pytest.raises((RefusedError, ValueError)):
            parse(bytes.fromhex(data))
    for item in vector["floats"]:
        assert float.hex(np.array([int(item["bits"], 16)], np.uint64).view(np.float64)[0]) == item["text"]


def test_merkle_trees():
    vector = load("merkle")
    leaves = [leaf(bytes([i])) for i in range(len(vector["leaves"]))]
    assert [digest.hex() for digest in leaves] == vector["leaves"]
    for tree in vector["trees"]:
        part = leaves[: tree["size"]]
        assert root(part).hex() == tree["root"]
        for proof in tree["inclusion"]:
            assert [digest.hex() for digest in inclusion_proof(part, proof["index"])] == proof["proof"]


def test_digests():
    vector = load("digests")
    arrays = {item["name"]: array_of(item) for item in vector["tensors"]}
    for item in vector["tensors"]:
        assert tensor_digest(item["name"], arrays[item["name"]]).hex() == item["digest"]
    assert state_root(arrays).hex() == vector["state_root"]
    step = vector["step_record"]
    log, fingerprints = bytes.fromhex(step["log"]), bytes.fromhex(step["fingerprints"])
    record = step_record(step["step"], None, log, fingerprints, float.fromhex(step["loss"]))
    assert (record.decode(), leaf(record).hex()) == (step["record"], step["leaf"])


def test_signatures():
    vector = load("signatures")
    key = Ed25519PrivateKey.from_private_bytes(bytes.fromhex(vector["secret_key"])).public_key()
    assert key_id(key) == vector["key_id"]
    envelope = vector["envelope"].encode()
    assert open_envelope(envelope, lambda statement: vector["public_key"]) == vector["statement"]
    key.verify(_signature(envelope), bytes.fromhex(vector["signed_bytes"]))
    with pytest.raises(InvalidSignature):
        key.verify(_signature(envelope), bytes.fromhex(vector["signed_bytes"]) + b" ")


def _signature(envelope: bytes) -> bytes:
    import base64

    return base64.b64decode(json.loads(envelope)["signatures"][0]["sig"])


def test_philox():
    vector = load("philox")
    for item in vector["blocks"]:
        assert list(philox(tuple(item["counter"]), tuple(item["key"]))) == item["words"]
    for item in vector["uniform"]:
        drawn = uniform(item["shape"], item["draw"], seed=int(item["seed"]), step=item["step"])
        assert same_bits(drawn.ravel(), floats(item["values"]))


def test_draws():
    for operator, cases in load("draws").items():
        for item in cases:
            drawn = DRAWS[operator](item["shape"], item["draw"], seed=int(item["seed"]), step=item["step"])
            assert same_bits(drawn.ravel(), floats(item["values"])), operator


def test_rounding():
    for case in load("rounding")["cases"]:
        grid = Grid(case["p"], case["guard_bits"])
        assert same_bits(rounded(floats(case["values"]), case["exponent"], grid), floats(case["rounded"]))


def test_following_a_log():
    vector = load("following")
    grid = Grid(vector["p"], vector["guard_bits"])
    for case in vector["cases"]:
        counts, log = Counts(), SiteLog(**case["log"])
        scale = float.fromhex(case["scale"])
        result = follow(floats(case["values"]), scale, vector["margin_bits"], grid, log, counts, True)
        assert same_bits(result, floats(case["rounded"])), case["case"]
        expected = Counts(case["corrections"], case["contradictions"], case["omissions"])
        assert counts == expected, case["case"]


def test_logs():
    vector = load("logs")
    for item in vector["accepted"]:
        assert decode_log(bytes.fromhex(item["bytes"]), item["elements"]) == [SiteLog(**s) for s in item["sites"]]
    for item in vector["refused"]:
        with pytest.raises(RefusedError):
            decode_log(bytes.fromhex(item["bytes"]), item["elements"])


def test_fingerprints():
    vector = load("fingerprints")
    for case in vector["cases"]:
        key = step_key(bytes.fromhex(vector["order"]), case["step"])
        assert f"{key:016x}" == case["step_key"]
        assert f"{fingerprint(array_of(case), key, case['place']):016x}" == case["fingerprint"]


def singles(texts: list[str]) -> np.ndarray:
    return floats(texts).astype(np.float32)


def same_singles(one: np.ndarray, other: np.ndarray) -> bool:
    return one.dtype == other.dtype == np.float32 and one.tobytes() == other.tobytes()


def test_exact_quantisation():
    for case in load("exact_operations")["quantised"]:
        integers, unit = quantised(singles(case["values"]), case["bits"], (0,))
        assert integers.tolist() == case["integers"]
        assert int(unit[0]) == case["unit"]


def test_exact_products():
    cases = load("exact_operations")["products"]
    for case in cases:
        m, k, n = case["shape"]
        left, right = singles(case["left"]).reshape(m, k), singles(case["right"]).reshape(k, n)
        assert same_singles(product(left, right, case["bits"]).ravel(), singles(case["product"]))
    # Control: other bits of the operands, and float32's own product, give others.
    m, k, n = cases[-1]["shape"]
    assert not same_singles(product(left, right, 24).ravel(), singles(cases[-2]["product"]))


def test_exact_sums():
    for case in load("exact_operations")["sums"]:
        assert float(summed(singles(case["values"]), None)).hex() == float.fromhex(case["sum"]).hex()


def test_exact_functions():
    for case in load("exact_operations")["functions"]:
        found = function(case["kind"], singles(case["arguments"]))
        assert same_singles(found, singles(case["values"])), case["kind"]


def test_one_rounding():
    """Integers that float64 does not hold, next to midpoints of float32."""
    integers = np.array([2**60 + 2**36, 2**60 + 2**36 + 1, 2**60 + 2**36 - 1, 2**60 + 3 * 2**36], np.int64)
    rounded_once = once(integers, np.array([-60]))
    assert rounded_once.tolist() == [1.0, 1 + 2.0**-23, 1.0, 1 + 2.0**-22]
    # Control: by way of float64 there are two roundings.
    assert (integers.astype(np.float64) * 2.0**-60).astype(np.float32).tolist() != rounded_once.tolist()


@pytest.mark.parametrize("name", RUNS)
def test_runs(name):
    bundle, expected = Bundle(FOLDER / f"{name}.cfoil"), load(name)
    bundle.check_order()
    assert bundle.check_run().hex() == expected["run_root"]
    assert bundle.digest.hex() == expected["order"]
    assert bundle.client_key == expected["client_key"]
    told = expected.get("programs", {"": expected})
    replayers, state = {turn: replayer_of(bundle, turn) for turn in told}, bundle.group("order/initial")
    for turn, replayer in replayers.items():
        assert replayer.sites == [site["elements"] for site in told[turn]["sites"]]
    for step, wanted in enumerate(expected["steps"], 1):
        replayer, sites = replayers[bundle.turn(step)], told[bundle.turn(step)]["sites"]
        result, leaf_hash = replayer.replay(step, state)
        if name not in ("exact", "rows"):
            assert replayer.margins_used == [site["margin_bits"] for site in sites]
        assert (result.counts.contradictions, result.counts.omissions) == (0, 0)
        assert [f"{number:016x}" for number in result.fingerprints] == wanted["fingerprints"]
        assert state_root(result.state).hex() == wanted["state_root"]
        assert result.loss.hex() == wanted["loss"]
        assert leaf_hash.hex() == wanted["leaf"] == leaf(bundle.record(step)).hex()
        state = result.state


def test_a_run_with_shares():
    bundle, expected = Bundle(FOLDER / "shares.cfoil"), load("shares")
    bundle.check_order()
    assert bundle.check_run().hex() == expected["run_root"]
    assert bundle.digest.hex() == expected["order"]
    steps, state = SharedSteps(bundle), bundle.group("order/initial")
    assert sorted(steps.gradient.program["combined"]) == expected["combined"]
    for step, wanted in enumerate(expected["steps"], 1):
        result, leaf_hash = steps.replay(step, state)
        assert leaf_hash.hex() == wanted["leaf"] == leaf(bundle.record(step)).hex()
        assert bundle.record(step).decode() == wanted["record"]
        records = [share.record(w) for w, share in enumerate(result.share_data(steps.changed, bundle.logs(step)[:-1]))]
        assert [record.decode() for record in records] == [share["record"] for share in wanted["shares"]]
        assert [leaf(record).hex() for record in records] == [share["leaf"] for share in wanted["shares"]]
        for part, told in zip((*result.shares, result.update), (*wanted["shares"], wanted), strict=True):
            assert [f"{number:016x}" for number in part.fingerprints] == told["fingerprints"]
        assert result.exponents.tolist() == wanted["exponents"]
        assert state_root(result.state).hex() == wanted["state_root"]
        assert result.update.loss.hex() == wanted["loss"]
        state = result.state


def test_sums_of_shares():
    results = set()
    for item in load("combination")["sums"]:
        shares = singles(item["shares"])
        assert exponent_of(list(shares)) == item["exponent"]
        assert sum_bits(len(shares)) == item["bits"]
        assert in_integers(shares, item["exponent"], item["bits"]).tolist() == list(map(int, item["integers"]))
        results.add(item["sum"])
        if item["sum"] is None:
            with pytest.raises(RefusedError, match="beyond"):
                added(list(shares[:, None]), item["bits"])
        else:
            found, _ = added(list(shares[:, None]), item["bits"])
            assert float(found[0]).hex() == float.fromhex(item["sum"]).hex()
    assert None in results


def test_where_rules_end_a_run():
    vector = load("stopping")
    assert {item["step"] is None for item in vector["runs"]} == {True, False}
    for item in vector["runs"]:
        end = stops_after(floats(item["losses"]), item["patience"], float.fromhex(item["min_fall"]))
        assert end == item["step"], item


def test_a_run_that_ends_elsewhere_than_its_rule_says_is_refused():
    bundle = Bundle(FOLDER / "stopped.cfoil")
    assert 1 < bundle.steps < bundle.ordered == bundle.manifest["steps"]
    bundle.check_run()
    rule = bundle.manifest["may_stop_early"]
    for other in ({**rule, "patience": 1}, {**rule, "patience": bundle.steps}, None):
        bundle.manifest["may_stop_early"] = other
        with pytest.raises(RefusedError, match=r"must not stop early|elsewhere than its rule says"):
            bundle.check_run()


def test_whose_order_it_is():
    """Some orders are signed by their client; what the trainer accepted is what the file holds."""
    bundles = {name: Bundle(FOLDER / f"{name}.cfoil") for name in RUNS}
    signed = {name for name, bundle in bundles.items() if bundle.client_key is not None}
    assert signed == {"transformer", "turns"}
    bundle = bundles["transformer"]
    del bundle.arrays["order/signature"]
    with pytest.raises(RefusedError, match="another client"):
        bundle.check_run()
    bundle.arrays["order/signature"] = bundles["turns"].arrays["order/signature"]
    with pytest.raises(RefusedError, match="another subject"):
        bundle.check_run()
    unsigned = bundles["convolution"]
    unsigned.arrays["run/acceptance"] = bundles["exact"].arrays["run/acceptance"]
    with pytest.raises(RefusedError, match="another subject"):
        unsigned.check_run()


def test_without_the_log_the_turned_step_comes_out_different():
    bundle, expected = Bundle(FOLDER / "convolution.cfoil"), load("convolution")
    replayer, state = Replayer(bundle), bundle.group("order/initial")
    for step in range(1, expected["turned_step"]):
        state = replayer.replay(step, state)[0].state
    step = expected["turned_step"]
    with_log, without = replayer.replay(step, state)[0], replayer.step(step, state, None)
    recorded = bundle.arrays["run/fingerprints"][step - 1].tolist()
    assert with_log.fingerprints == recorded
    assert with_log.counts.corrections > 0
    assert without.fingerprints != recorded


def test_another_turn_gives_another_step():
    """Control: the pattern matters, and a step leaves what its program does not take as it was."""
    bundle, expected = Bundle(FOLDER / "turns.cfoil"), load("turns")
    assert bundle.pattern == expected["pattern"] == ["d", "d", "g"]
    state = bundle.group("order/initial")
    for step in (1, 2):
        state = replayer_of(bundle, "d").replay(step, state)[0].state
    result, leaf_hash = replayer_of(bundle, "g").replay(3, state)
    assert leaf_hash.hex() == expected["steps"][2]["leaf"]
    untouched = {name for name in state if name.startswith(("discriminator.", "moment1", "moment2"))}
    assert len(untouched) == 6
    assert all(result.state[name].tobytes() == state[name].tobytes() for name in untouched)
    bundle.pattern = ["d", "g", "d"]
    with pytest.raises(RefusedError, match="run root"):
        bundle.check_run()
