"""Tries an installed Counterfoil, from outside its checkout: ``ENVIRONMENT/bin/python packaging/try_wheel.py``.

It orders, records, audits and verifies three steps through the command, as a user would; with ``--window`` it goes
through the demo in the window too, drawn off screen. ``make wheels-check`` runs it in empty environments.
"""

from __future__ import annotations

import argparse
import importlib.util
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

IMPORT_SECONDS = 0.3
DISPUTED, ERROR = 1, 4


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--window", action="store_true", help="the window is installed too: go through its demo")
    window = parser.parse_args().window
    sys.path[:] = [entry for entry in sys.path if entry and Path(entry).resolve() != Path(__file__).resolve().parent]
    with tempfile.TemporaryDirectory(prefix="counterfoil-tried-") as made:
        os.chdir(made)
        print(f"Python {sys.version.split()[0]}, {sys.prefix}")
        try_import()
        try_engine()
        if window:
            try_window()
        else:
            try_without_window()
    return 0


def try_import() -> None:
    found = importlib.util.find_spec("counterfoil")
    origin = "nowhere" if found is None else str(found.origin)
    check(origin.startswith(sys.prefix), f"what is imported is installed: {origin}")
    seconds = spent("import counterfoil") - spent("pass")
    check(seconds < IMPORT_SECONDS, f"import counterfoil takes {seconds:.2f} s, less than {IMPORT_SECONDS}")
    import counterfoil

    names = [name for name in counterfoil.__all__ if getattr(counterfoil, name, None) is None]
    check(not names, f"all {len(counterfoil.__all__)} public names are there {names or ''}")


def spent(code: str) -> float:
    """Seconds that an interpreter takes for some code, the median of seven."""
    taken = []
    for _ in range(7):
        begun = time.perf_counter()
        subprocess.run([sys.executable, "-P", "-c", code], check=True)
        taken.append(time.perf_counter() - begun)
    return statistics.median(taken)


def try_engine() -> None:
    says("--version", "--verbose", wanted="files are as RECORD says")
    for who in ("client", "trainer", "auditor"):
        says("keygen", f"{who}.pem", "--no-passphrase")
    says("order", "digits-cnn", "--out", "job.cfoil", "--steps", "3", "--key", "client.pem", wanted="Order digest")
    says("train", "job.cfoil", "--out", "run.cfoil", "--key", "trainer.pem")
    audit = ("audit", "run.cfoil", "--order", "job.cfoil", "--trainer-key", "trainer.pub.pem", "--key", "auditor.pem")
    says(*audit, "--verdict", "verdict.json", wanted="VERIFIED")
    says("verify", "verdict.json", "--key", "auditor.pub.pem", wanted="VERIFIED")


def try_without_window() -> None:
    check(importlib.util.find_spec("PySide6") is None, "no Qt is installed")
    says("gui", wanted="counterfoil[gui]", code=ERROR)


def try_window() -> None:
    os.environ["QT_QPA_PLATFORM"] = "offscreen"
    says("demo", "--folder", "demo", "--steps", "6")
    made = {path.name for path in Path("demo").iterdir()}
    check({"honest.png", "tampered.png"} <= made, f"the demo left its pictures: {sorted(made)}")


def says(*arguments: str, wanted: str = "", code: int = 0) -> None:
    """Run ``python -m counterfoil`` and compare its exit code and something that it says."""
    command = [sys.executable, "-m", "counterfoil", *arguments]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    said = done.stdout + done.stderr
    check(done.returncode == code and wanted in said, f"counterfoil {' '.join(arguments)}", said)


def check(holds: bool, what: str, more: str = "") -> None:
    print(f"{'ok' if holds else 'FAILED'}: {what}", flush=True)
    if not holds:
        raise SystemExit(more or 1)


if __name__ == "__main__":
    sys.exit(main())
