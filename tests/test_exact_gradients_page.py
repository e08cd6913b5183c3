"""Runs the example of docs/exact-gradients.md as the page says."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from support.consoles import examples

ROOT = Path(__file__).parents[1]
PAGE = (ROOT / "docs" / "exact-gradients.md").read_text(encoding="utf-8")
WEIGHTS = re.compile(r"^(exact|plain), ranks .*: weights ([0-9a-f]{16}), quickest step \d+\.\d{3} s$", re.MULTILINE)


@pytest.mark.slow
def test_ranks_that_change_places_show_in_plain_gradients_alone() -> None:
    ((command, expected),) = examples(PAGE)
    program, *arguments = command.split()
    assert program == "torchrun"
    done = subprocess.run(
        [sys.executable, "-m", "torch.distributed.run", *arguments],
        cwd=ROOT,
        env={**os.environ, "OMP_NUM_THREADS": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    for shown in (done.stdout, expected):
        (exact, exact_turned), (plain, plain_turned) = (
            [digest for way, digest in WEIGHTS.findall(shown) if way == wanted] for wanted in ("exact", "plain")
        )
        assert exact == exact_turned
        assert plain != plain_turned
        assert exact not in {plain, plain_turned}
    without = [re.sub(r"weights \w+, quickest step \S+", "", shown) for shown in (done.stdout, expected)]
    assert without[0] == without[1]
