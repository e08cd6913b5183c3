from __future__ import annotations

import os
import shutil
import tempfile

import pytest

# Before Qt is imported by anything: the tests draw off screen unless told otherwise.
os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
# Torch's threads sleep while they wait for work; by default they spin, and take the processor from other workers.
os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")
# Audits keep their progress there, and not in the folder of who runs the tests.
os.environ["XDG_STATE_HOME"] = tempfile.mkdtemp(prefix="counterfoil-tests-")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Skip what cannot run here, and say why."""
    reasons = {"gpu": _no_gpu(), "xvfb": None if shutil.which("Xvfb") else "Xvfb is not installed"}
    for item in items:
        for marker, reason in reasons.items():
            if reason and item.get_closest_marker(marker):
                item.add_marker(pytest.mark.skip(reason=reason))


def _no_gpu() -> str | None:
    import torch

    return None if torch.cuda.is_available() else "this machine has no CUDA device"
