from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from counterfoil import Level, OrderTrust, Outcome, TrainerTrust, load_public_key, verify_verdict
from counterfoil_app.demo import STEPS, TAMPERED_STEP, tampered_step

FILES = {
    "job.cfoil",
    "honest.cfoil",
    "tampered.cfoil",
    "honest.verdict.json",
    "tampered.verdict.json",
    "auditor.pub.pem",
    "honest.png",
    "tampered.png",
    "keys",
}

SHORT = 5


def demo(folder: Path) -> subprocess.CompletedProcess[str]:
    """Run the demonstration as a user without a display does."""
    environment = {name: value for name, value in os.environ.items() if name not in ("DISPLAY", "WAYLAND_DISPLAY")}
    environment.pop("QT_QPA_PLATFORM", None)
    command = [sys.executable, "-m", "counterfoil.cli", "demo", "--steps", str(SHORT)]
    return subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)


@pytest.mark.slow
@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="elsewhere there is always a display")
def test_the_demonstration_tells_honest_from_tampered(tmp_path: Path) -> None:
    done = demo(tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stderr == ""
    folder = tmp_path / "counterfoil-demo"
    assert {path.name for path in folder.iterdir()} == FILES
    key = load_public_key(folder / "auditor.pub.pem")
    honest = verify_verdict((folder / "honest.verdict.json").read_bytes(), key)
    tampered = verify_verdict((folder / "tampered.verdict.json").read_bytes(), key)
    assert (honest.outcome, honest.order_source) == (Outcome.VERIFIED, "client")
    # It ends green as an auditor's does who knows the parties: order and trainer by keys that were known before.
    for verdict in (honest, tampered):
        assert verdict.trust.level is Level.WHOLE
        assert (verdict.trust.order, verdict.trust.trainer) == (OrderTrust.CLIENT, TrainerTrust.NAMED)
        assert verdict.given_client_key == verdict.client_key != ""
        assert verdict.accepted
    assert (tampered.outcome, tampered.disputed_step) == (Outcome.DISPUTED, tampered_step(SHORT))
    assert "VERIFIED" in done.stdout
    assert "DISPUTED" in done.stdout


def test_a_shorter_demonstration_tampers_as_far_into_it() -> None:
    assert tampered_step(STEPS) == TAMPERED_STEP == 37
    assert tampered_step(SHORT) == 4
    assert [tampered_step(steps) for steps in (2, 3)] == [2, 2]
