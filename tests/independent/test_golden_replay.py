"""The golden runs, read and replayed by a second implementation that shares no code with Counterfoil."""

from __future__ import annotations

import ast
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from independent.bundle import Bundle, RefusedError, decode_log, leaf
from independent.exact import replayer_of
from independent.replay import Replayer

HERE = Path(__file__).parent
GOLDEN = HERE.parent / "engine" / "golden"
NAMES = ("digits", "gpt2", "exact")
STANDARD = {
    "__future__",
    "ast",
    "base64",
    "collections",
    "dataclasses",
    "decimal",
    "fractions",
    "hashlib",
    "hmac",
    "json",
    "math",
    "pathlib",
    "re",
    "typing",
}
ALLOWED = STANDARD | {"cryptography", "h5py", "independent", "numpy", "pytest"}


def replayed(bundle: Bundle, **changes: Any) -> list[bytes]:
    """Leaves of all steps, each from the replay's own state; ``changes`` go into the initial state."""
    replayer, state = replayer_of(bundle), bundle.group("order/initial") | changes
    leaves = []
    for step in range(1, bundle.steps + 1):
        result, leaf_hash = replayer.replay(step, state)
        assert (result.counts.contradictions, result.counts.omissions) == (0, 0)
        leaves.append(leaf_hash)
        state = result.state
    return leaves


def recorded(bundle: Bundle) -> list[bytes]:
    return [leaf(bundle.record(step)) for step in range(1, bundle.steps + 1)]


@pytest.fixture(params=NAMES)
def bundle(request: pytest.FixtureRequest) -> Bundle:
    return Bundle(GOLDEN / f"{request.param}.run.cfoil")


def test_nothing_of_counterfoil_and_no_torch_is_imported():
    sources = sorted(HERE.glob("*.py"))
    assert len(sources) > 3
    imported = set()
    for source in sources:
        for node in ast.walk(ast.parse(source.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Import):
                imported |= {alias.name.split(".")[0] for alias in node.names}
            elif isinstance(node, ast.ImportFrom):
                assert node.level == 0
                imported.add((node.module or "").split(".")[0])
            elif isinstance(node, ast.Name):
                assert node.id not in ("__import__", "eval", "exec"), source
    assert imported <= ALLOWED
    assert not imported & {"counterfoil", "torch"}


def test_order_and_claim_hold(bundle):
    bundle.check_order()
    bundle.check_run()


def test_every_step_comes_out_bit_for_bit(bundle):
    assert replayed(bundle) == recorded(bundle)


def test_one_flipped_bit_of_a_weight_is_noticed(bundle):
    name, weight = next(
        (n, a) for n, a in bundle.group("order/initial").items() if a.dtype == np.float32 and a.ndim > 1
    )
    flipped = weight.copy()
    flipped.view(np.uint32).flat[0] ^= 1
    with pytest.raises(AssertionError):
        assert replayed(bundle, **{name: flipped}) == recorded(bundle)


def test_one_flipped_bit_of_the_run_is_refused(bundle):
    bundle.arrays["run/fingerprints"] = bundle.arrays["run/fingerprints"] ^ np.uint64(1)
    with pytest.raises(RefusedError, match="run root"):
        bundle.check_run()


@pytest.mark.parametrize("name", ["digits", "gpt2"])
def test_one_flipped_direction_of_the_log_gives_another_step(name):
    """So the log is followed, and matters."""
    bundle = Bundle(GOLDEN / f"{name}.run.cfoil")
    replayer, state = Replayer(bundle), bundle.group("order/initial")
    log = decode_log(bundle.log(1), replayer.sites)
    honest = replayer.step(1, state, log)
    assert honest.fingerprints == bundle.arrays["run/fingerprints"][0].tolist()
    site = next(site for site in log if site.ups)
    site.ups[0] = not site.ups[0]
    turned = replayer.step(1, state, log)
    assert turned.counts.corrections == honest.counts.corrections + 1
    assert turned.fingerprints != honest.fingerprints
