"""Runs ``python -m tests.fidelity`` in a process of its own: the one that tests run in has threads."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

from tests.fidelity.trial import Trial

ROOT = Path(__file__).parents[2]


def trials(folder: Path, *arguments: str) -> list[Trial]:
    """What became of scripts, or of mutants.

    Args:
        folder: An empty folder.
        arguments: Of the command.
    """
    path = folder / "trials.jsonl"
    ended = subprocess.run(
        [sys.executable, "-m", "tests.fidelity", *arguments, "--json", str(path)],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    assert not ended.returncode, ended.stdout
    return [Trial(**json.loads(line)) for line in path.read_text(encoding="utf-8").splitlines()]
